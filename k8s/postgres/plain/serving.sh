# Run once by PostgreSQL's image, when its volume is empty: the service's own role, which owns nothing.
psql --set=ON_ERROR_STOP=1 --set=password="$SERVING_PASSWORD" --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
CREATE ROLE assayer_serving LOGIN PASSWORD :'password';
SQL
