# Run once by PostgreSQL's image when its volume is empty. Creates the roles for the service, the head and the dump,
# which own nothing.
psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
    --set=serving="$SERVING_PASSWORD" --set=scaling="$SCALING_PASSWORD" --set=dump="$DUMP_PASSWORD" <<'SQL'
CREATE ROLE assayer_serving LOGIN PASSWORD :'serving';
CREATE ROLE assayer_scaling LOGIN PASSWORD :'scaling';
CREATE ROLE assayer_dump LOGIN PASSWORD :'dump' IN ROLE pg_read_all_data;
SQL
