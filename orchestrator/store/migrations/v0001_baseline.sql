-- The tables of version 0.1.0, grouped by subject. Every foreign key has an index that begins with its columns
-- (tests/contract/test_schema.py). Triggers do one thing here: they forbid changes to append-only tables.
-- Everything else is written by the statement that makes the change (orchestrator/store).


-- ---------------------------------------------------------------------------------------------------------------------
-- Tenants, people and keys

-- Customers of the service. `virtual_time` grows by 1/weight with every job started: the lowest goes next.
CREATE TABLE tenants (
    id text PRIMARY KEY,
    name text NOT NULL,
    weight double precision NOT NULL DEFAULT 1 CHECK (weight > 0),
    max_running integer CHECK (max_running > 0),
    max_queued integer NOT NULL DEFAULT 20000 CHECK (max_queued > 0),
    monthly_usd double precision CHECK (monthly_usd > 0),
    retention_days integer CHECK (retention_days > 0),
    virtual_time double precision NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- People of a tenant. `issuer` and `subject`: their account at an identity provider, after the first sign-in with it.
-- `read_reports_until`: when a reviewer last had a role that may read reports.
CREATE TABLE members (
    id text PRIMARY KEY,
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    email text NOT NULL,
    affiliation text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'officer', 'reviewer', 'auditor')),
    issuer text,
    subject text,
    invited_by text NOT NULL,
    receives_email boolean NOT NULL DEFAULT true,
    read_reports_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz
);
CREATE INDEX members_tenant ON members (tenant);
CREATE UNIQUE INDEX members_email ON members (lower(email), tenant) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX members_subject ON members (tenant, issuer, subject) WHERE removed_at IS NULL;

-- API keys. `hash`: SHA-256 of the key, which only its holder has. `member`: whose key it is; NULL for a machine key.
CREATE TABLE api_keys (
    id text PRIMARY KEY,
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    member text REFERENCES members ON DELETE CASCADE,
    name text NOT NULL,
    hash bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL,
    requests_per_minute integer CHECK (requests_per_minute > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX api_keys_tenant ON api_keys (tenant);
CREATE INDEX api_keys_member ON api_keys (member);

-- Browser sessions. `hash`: SHA-256 of a token that only the browser has.
CREATE TABLE sessions (
    hash bytea PRIMARY KEY,
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    role text NOT NULL,
    name text NOT NULL,
    key text REFERENCES api_keys ON DELETE CASCADE,
    member text REFERENCES members ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    CHECK (key IS NOT NULL OR member IS NOT NULL)
);
CREATE INDEX sessions_tenant ON sessions (tenant);
CREATE INDEX sessions_key ON sessions (key);
CREATE INDEX sessions_member ON sessions (member);

-- Links with which a reviewer signs in once, sent by mail. `hash`: SHA-256 of the token in the link.
CREATE TABLE sign_in_links (
    hash bytea PRIMARY KEY,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    used_at timestamptz
);
CREATE INDEX sign_in_links_member ON sign_in_links (member);
CREATE INDEX sign_in_links_unused ON sign_in_links (expires_at) WHERE used_at IS NULL;

-- Rate limits (GCRA) by key or person, and by tenant: when the full burst is available again. Unlogged, as every
-- request changes them: they come back empty after a crash of the server.
CREATE UNLOGGED TABLE request_rates (subject text PRIMARY KEY, full_at timestamptz NOT NULL) WITH (fillfactor = 50);

-- Cost of jobs that have ended, by month (UTC); kept after the jobs are deleted. In slots, so that jobs that end at
-- the same moment do not wait for one row.
CREATE TABLE spending (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    month date NOT NULL,
    slot smallint NOT NULL,
    usd double precision NOT NULL,
    PRIMARY KEY (tenant, month, slot)
) WITH (fillfactor = 50);

-- Filters of the console's tables that people saved under a name.
CREATE TABLE saved_views (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    query text NOT NULL,
    PRIMARY KEY (tenant, name)
);


-- ---------------------------------------------------------------------------------------------------------------------
-- The queue

-- One row: the virtual time of the fair scheduler. Whoever grants leases locks it.
CREATE TABLE queue_clock (virtual_time double precision NOT NULL) WITH (fillfactor = 50);
INSERT INTO queue_clock VALUES (0);

-- Batches; in the console, calls for proposals. `open`: more rows may come. `told`: its end has been announced to
-- webhooks and by mail. `erased`: number of rows deleted since. `rejected`: input rows without a usable idea.
-- `opened_at`: a batch that stays open for too long is closed. `archived_at`: out of the console's list since then.
CREATE TABLE batches (
    id text PRIMARY KEY,
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    name text NOT NULL,
    rows integer NOT NULL,
    rejected jsonb NOT NULL DEFAULT '[]',
    open boolean NOT NULL DEFAULT false,
    told boolean NOT NULL DEFAULT false,
    erased integer NOT NULL DEFAULT 0,
    tags text[] NOT NULL DEFAULT '{}',
    opinions_due date,
    submitted_by text REFERENCES members ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    opened_at timestamptz NOT NULL DEFAULT now(),
    archived_at timestamptz
);
CREATE INDEX batches_tenant ON batches (tenant, created_at DESC, id DESC);
CREATE INDEX batches_submitted_by ON batches (submitted_by);
CREATE INDEX batches_untold ON batches (id) WHERE NOT told;
CREATE INDEX batches_open ON batches (opened_at) WHERE open;

-- Batches as funding calls: text, deadline, budget, criteria and review form (assayer_client/calls.py). `version` grows
-- with each change of the call's details, of its name and tags too, so that a change based on an older one is refused.
CREATE TABLE call_terms (
    batch text PRIMARY KEY REFERENCES batches ON DELETE CASCADE,
    version integer NOT NULL,
    terms jsonb NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL
);

-- Jobs. States and transitions: orchestrator/jobs/state_machine.py.
-- What was asked: `request` (a ranking's ideas are in ranking_ideas), with `method`, `cutoff` and `blind` as columns,
-- `source_name` (the sender's own name for it), and the document in the row or in a file. `priority`: 0 interactive,
-- 1 batch, 2 overnight.
-- What has become of it: `run_id` and `pinned`, everything that determines the result since it last began anew;
-- `last_lease`, the token that ended the last attempt, so that its holder may repeat that; `last_event`, the number of
-- its newest event; `charged_usd`, the part of its cost that is in `spending` already. `created_at` differs from row
-- to row of a batch, in their order.
CREATE TABLE jobs (
    id text PRIMARY KEY,
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    batch text REFERENCES batches ON DELETE CASCADE,
    "row" integer,
    kind text NOT NULL
        CHECK (kind IN ('evaluation', 'comparison', 'ranking', 'rewards', 'curation', 'candidate_ideas', 'score')),
    priority smallint NOT NULL CHECK (priority IN (0, 1, 2)),
    state text NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    subject text NOT NULL,
    request jsonb NOT NULL,
    method text,
    cutoff date,
    blind boolean NOT NULL DEFAULT false,
    source_name text GENERATED ALWAYS AS
        (left(coalesce(request #>> '{idea,source}', request ->> 'source', ''), 300)) STORED,
    flags text[] NOT NULL DEFAULT '{}',
    document bytea,
    document_file text,
    max_usd double precision,
    traceparent text,
    attempt integer NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    losses integer NOT NULL DEFAULT 0,
    outages integer NOT NULL DEFAULT 0,
    reasons text[] NOT NULL DEFAULT '{}',
    lease uuid,
    leased_until timestamptz,
    last_lease uuid,
    worker text,
    reserved_usd double precision NOT NULL DEFAULT 0,
    run_id text,
    pinned jsonb,
    result jsonb,
    problem jsonb,
    cost_usd double precision,
    charged_usd double precision NOT NULL DEFAULT 0,
    prompt_tokens bigint NOT NULL DEFAULT 0,
    last_event integer NOT NULL DEFAULT 0,
    traced boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    ready_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    finished_at timestamptz,
    CHECK ((state = 'running') = (lease IS NOT NULL)),
    CHECK ((state NOT IN ('queued', 'running')) = (finished_at IS NOT NULL)),
    CHECK (state <> 'failed' OR problem IS NOT NULL)
) WITH (fillfactor = 80);
CREATE INDEX jobs_queue ON jobs (tenant, priority, ready_at) WHERE state = 'queued';
-- Without `leased_until`, which every heartbeat changes.
CREATE INDEX jobs_running ON jobs (tenant) WHERE state = 'running';
CREATE INDEX jobs_suspect ON jobs (losses) WHERE state = 'running' AND losses > 0;
CREATE UNIQUE INDEX jobs_lease ON jobs (lease) WHERE lease IS NOT NULL;
CREATE INDEX jobs_tenant ON jobs (tenant, created_at DESC, id DESC);
CREATE INDEX jobs_batch ON jobs (batch, "row");
-- Counts and costs of a batch are read from this index alone.
CREATE INDEX jobs_batch_state ON jobs (batch, state) INCLUDE (cost_usd, finished_at);
-- Names are looked for by their ends: the id in a row, the name of a file in a folder (orchestrator/store/job_sql.py).
CREATE INDEX jobs_source ON jobs (tenant, reverse(source_name) COLLATE "C");
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_kept_documents ON jobs (finished_at)
    WHERE finished_at IS NOT NULL AND (document IS NOT NULL OR document_file IS NOT NULL);

-- Applicants, as their proposal's row or its sender states them. `columns`: all other columns of the row that are not part
-- of the proposal's text. `amount`: what was asked for.
CREATE TABLE applicants (
    evaluation text PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    name text NOT NULL,
    institution text NOT NULL,
    amount double precision CHECK (amount >= 0),
    columns jsonb NOT NULL
);

-- Runs of a job: a run identifies everything that determines a result, and may be shared by jobs that ask the same.
CREATE TABLE runs (
    job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    run_id text NOT NULL,
    PRIMARY KEY (job, run_id)
);
CREATE INDEX runs_run ON runs (run_id);

-- Runs whose jobs were erased: nothing that was still on its way is stored for them.
CREATE TABLE erased_runs (run_id text PRIMARY KEY, erased_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX erased_runs_at ON erased_runs (erased_at);

-- Events of jobs, numbered from 1 without gaps within a job. `id` is drawn by the writer, so that an event sent again
-- after a lost connection is recognised.
CREATE TABLE events (
    job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    number integer NOT NULL,
    id uuid,
    kind text NOT NULL,
    data jsonb NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (job, number)
);
CREATE INDEX events_at ON events USING brin (at);

-- Outcomes of the items of a job that has many. `item`: place in the request; `came`: order of arrival, from 1.
CREATE TABLE item_outcomes (
    job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    item integer NOT NULL,
    came integer NOT NULL,
    outcome jsonb NOT NULL,
    PRIMARY KEY (job, item)
);
CREATE INDEX item_outcomes_came ON item_outcomes (job, came);

-- Groups whose members are rewarded against each other. `due_at`: how long members wait for missing ones.
CREATE TABLE reward_groups (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id text NOT NULL,
    size integer NOT NULL,
    judge text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    due_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX reward_groups_created ON reward_groups (created_at);

CREATE TABLE reward_group_members (
    tenant text NOT NULL,
    "group" text NOT NULL,
    member integer NOT NULL,
    digest bytea NOT NULL,
    job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    PRIMARY KEY (tenant, "group", member),
    FOREIGN KEY (tenant, "group") REFERENCES reward_groups ON DELETE CASCADE
);
CREATE INDEX reward_group_members_job ON reward_group_members (job);

-- Files in the document store. A file is noted before it is written and until it has been deleted; `released_at`: no
-- job needs it any more. No reference to jobs, which it outlives.
CREATE TABLE document_files (
    file text PRIMARY KEY,
    job text NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    released_at timestamptz
);
CREATE INDEX document_files_job ON document_files (job);
CREATE INDEX document_files_written ON document_files (written_at) WHERE released_at IS NULL;
CREATE INDEX document_files_released ON document_files (released_at) WHERE released_at IS NOT NULL;

-- Responses to requests with an Idempotency-Key, and the hash of the request.
CREATE TABLE idempotency (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    key text NOT NULL,
    request bytea NOT NULL,
    status smallint NOT NULL,
    body bytea NOT NULL,
    location text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, key)
);
CREATE INDEX idempotency_created ON idempotency (created_at);

-- What was deleted, when and why: ids only, so that whoever asks for it gets 410 instead of 404.
CREATE TABLE tombstones (
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    id text NOT NULL,
    kind text NOT NULL,
    deleted_at timestamptz NOT NULL,
    why text NOT NULL CHECK (why IN ('erased', 'retention')),
    proof bigint,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX tombstones_deleted_at ON tombstones (deleted_at);


-- ---------------------------------------------------------------------------------------------------------------------
-- Reports and rankings

-- Finished reports, by run.
CREATE TABLE evaluations (
    id text PRIMARY KEY,
    idea_id text NOT NULL,
    report jsonb NOT NULL
);
CREATE INDEX evaluations_idea ON evaluations (idea_id);

-- The figures of a report that tables show, sort and search by.
CREATE TABLE report_figures (
    run text PRIMARY KEY REFERENCES evaluations ON DELETE CASCADE,
    idea text NOT NULL,
    score double precision,
    certainty smallint,
    fit text,
    complete boolean NOT NULL,
    shares jsonb NOT NULL,
    figures jsonb NOT NULL,
    words tsvector NOT NULL
);
CREATE INDEX report_figures_words ON report_figures USING gin (words);

-- Finished rankings. `head`: everything but the ideas. `size`: ideas that were ranked, those erased since included.
CREATE TABLE rankings (
    job text PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    shortlist_size integer,
    size integer NOT NULL,
    head jsonb NOT NULL
);

-- The ideas of a ranking: as submitted (`place`, `idea`, `source`, `body`, `seed` score to start from), and, once it
-- has finished, where each stands. `text_group`: equal for ideas of which the judge was shown the same text.
-- `details`: what the ranking says of the idea beyond these columns. Deleting a row takes the idea out of the ranking.
CREATE TABLE ranking_ideas (
    job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    idea text NOT NULL,
    place integer NOT NULL,
    source text NOT NULL,
    body jsonb NOT NULL,
    seed double precision,
    rank integer,
    low double precision,
    high double precision,
    band text,
    shortlist_probability double precision,
    strength double precision,
    strength_low double precision,
    strength_high double precision,
    comparisons integer,
    text_group integer,
    title text,
    details jsonb,
    PRIMARY KEY (job, idea)
);
CREATE INDEX ranking_ideas_idea ON ranking_ideas (idea);

-- Answers of judges on pairs of ideas: of comparisons, and of rankings. `known`: handed in with the ranking, which has
-- not finished yet; once it has, its rows are all the answers that it rests on.
CREATE TABLE ranking_pairs (
    job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    place integer NOT NULL,
    first text NOT NULL,
    second text NOT NULL,
    answer jsonb NOT NULL,
    known boolean NOT NULL DEFAULT false,
    PRIMARY KEY (job, place)
);
CREATE INDEX ranking_pairs_pair ON ranking_pairs (first, second);

-- Batches of which a ranking holds two proposals or more. `proposals`: how many of its ideas they are.
CREATE TABLE ranking_calls (
    batch text NOT NULL REFERENCES batches ON DELETE CASCADE,
    job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    proposals integer NOT NULL,
    PRIMARY KEY (batch, job)
);
CREATE INDEX ranking_calls_job ON ranking_calls (job);


-- ---------------------------------------------------------------------------------------------------------------------
-- Reviewing

-- Members who may not review a proposal. `cleared_reason`: why the conflict does not hold after all.
CREATE TABLE conflicts (
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    source text NOT NULL,
    reason text NOT NULL,
    cleared_reason text,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (evaluation, member)
);
CREATE INDEX conflicts_member ON conflicts (member);

-- Members chosen and invited to review a batch. A batch without rows asks all reviewers.
CREATE TABLE call_reviewers (
    batch text NOT NULL REFERENCES batches ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    at timestamptz NOT NULL,
    PRIMARY KEY (batch, member)
);
CREATE INDEX call_reviewers_member ON call_reviewers (member);

-- What a member knows and whom they are close to (assayer_client/expertise.py): keywords, papers, institutions, people.
-- `declared_at`: when the member last confirmed institutions and people, NULL if only an officer entered them.
CREATE TABLE expertise (
    member text PRIMARY KEY REFERENCES members ON DELETE CASCADE,
    keywords text[] NOT NULL,
    papers jsonb NOT NULL,
    institutions text[] NOT NULL,
    people text[] NOT NULL,
    version integer NOT NULL,
    declared_at timestamptz,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL
);

-- Batches whose reviewers are asked which proposals they would review.
CREATE TABLE open_bidding (
    batch text PRIMARY KEY REFERENCES batches ON DELETE CASCADE,
    at timestamptz NOT NULL
);

-- Proposals that were searched for conflicts with a reviewer, as stored at `changed_at`, before their titles are shown.
-- `similarity`: to the reviewer's expertise.
CREATE TABLE bid_searches (
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    changed_at timestamptz NOT NULL,
    similarity double precision NOT NULL,
    PRIMARY KEY (evaluation, member)
);
CREATE INDEX bid_searches_member ON bid_searches (member);

CREATE TABLE bids (
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    bid text NOT NULL,
    bid_at timestamptz NOT NULL,
    PRIMARY KEY (evaluation, member)
);
CREATE INDEX bids_member ON bids (member);

-- Who reviews which proposal. `reason`: why it was assigned to this reviewer.
CREATE TABLE assignments (
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    reason text NOT NULL DEFAULT '',
    assigned_at timestamptz NOT NULL,
    PRIMARY KEY (evaluation, member)
);
CREATE INDEX assignments_member ON assignments (member, assigned_at, evaluation);

-- Opinions of reviewers: the first one, given before the report opens, and the current one. `answers`: to the call's
-- criteria and review form.
CREATE TABLE opinions (
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    blind_score smallint NOT NULL,
    blind_note text NOT NULL,
    blind_answers jsonb NOT NULL,
    blind_at timestamptz NOT NULL,
    score smallint NOT NULL,
    note text NOT NULL,
    answers jsonb NOT NULL,
    revised_at timestamptz,
    PRIMARY KEY (evaluation, member)
);
CREATE INDEX opinions_member ON opinions (member);

-- Whether reviewers agree with single points of a report.
CREATE TABLE point_judgements (
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    point text NOT NULL,
    agrees boolean NOT NULL,
    reason text NOT NULL,
    judged_at timestamptz NOT NULL,
    PRIMARY KEY (evaluation, member, point)
);
CREATE INDEX point_judgements_member ON point_judgements (member);

-- Scores that people set in place of the program's.
CREATE TABLE score_overrides (
    evaluation text PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    score smallint NOT NULL,
    reason text NOT NULL,
    overridden_by_id text NOT NULL,
    overridden_by text NOT NULL,
    overridden_at timestamptz NOT NULL
);

-- Reviewers' comments to the applicant that an officer released, as they read at that time.
CREATE TABLE released_comments (
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    text text NOT NULL,
    released_by_id text NOT NULL,
    released_by text NOT NULL,
    released_at timestamptz NOT NULL,
    PRIMARY KEY (evaluation, member)
);
CREATE INDEX released_comments_member ON released_comments (member);

-- Decisions on proposals. `amount`: in the currency of the call. `version` grows with each change.
CREATE TABLE decisions (
    evaluation text PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    outcome text NOT NULL CHECK (outcome IN ('fund', 'reserve', 'decline')),
    amount double precision CHECK (amount >= 0),
    reason text NOT NULL,
    version integer NOT NULL,
    decided_by_id text NOT NULL,
    decided_by text NOT NULL,
    decided_at timestamptz NOT NULL
);

-- Letters to applicants: the templates of a batch by outcome, and those that were sent, as sent.
CREATE TABLE letter_templates (
    batch text PRIMARY KEY REFERENCES batches ON DELETE CASCADE,
    version integer NOT NULL,
    templates jsonb NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL
);
CREATE TABLE letters (
    evaluation text PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    text text NOT NULL,
    sent_by_id text NOT NULL,
    sent_by text NOT NULL,
    sent_at timestamptz NOT NULL
);

-- Objections of applicants to a decision, and the answers.
CREATE TABLE objections (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    text text NOT NULL,
    received_on date NOT NULL,
    recorded_by text NOT NULL,
    recorded_at timestamptz NOT NULL,
    answer text,
    answered_by text,
    answered_at timestamptz,
    CHECK ((answer IS NULL) = (answered_at IS NULL))
);
CREATE INDEX objections_evaluation ON objections (evaluation, id);

-- Remarks of people on a proposal: added, never changed. The same remark sent again is the same.
CREATE TABLE remarks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    author_id text NOT NULL,
    author text NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX remarks_evaluation ON remarks (evaluation, id);
CREATE UNIQUE INDEX remarks_once ON remarks (evaluation, author_id, md5(text));

-- Batches that are decided. `audit_number`, `audit_hash`: the entry of the audit log that says so.
CREATE TABLE sign_offs (
    batch text PRIMARY KEY REFERENCES batches ON DELETE CASCADE,
    signed_off_by_id text NOT NULL,
    signed_off_by text NOT NULL,
    note text NOT NULL,
    missing_opinions integer NOT NULL,
    signed_off_at timestamptz NOT NULL,
    audit_number bigint NOT NULL,
    audit_hash text NOT NULL
);

-- Names of the reviewers of a batch when it was signed off.
CREATE TABLE signed_names (
    batch text NOT NULL REFERENCES batches ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    name text NOT NULL,
    PRIMARY KEY (batch, member)
);
CREATE INDEX signed_names_member ON signed_names (member);


-- ---------------------------------------------------------------------------------------------------------------------
-- Audit log: append-only, and kept when its tenant is deleted (no reference to tenants)

-- A chain of hashes for each tenant.
CREATE TABLE audit_log (
    tenant text NOT NULL,
    number bigint NOT NULL CHECK (number > 0),
    recorded_at timestamptz NOT NULL,
    actor text NOT NULL,
    role text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    content_hash text NOT NULL,
    previous_hash text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (tenant, number)
);

-- The words of entries, which can be erased. `content` is text, not jsonb: the hash is of these very letters.
CREATE TABLE audit_contents (
    tenant text NOT NULL,
    number bigint NOT NULL,
    subject text NOT NULL,
    salt text NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (tenant, number)
);
CREATE INDEX audit_contents_subject ON audit_contents (tenant, subject);

-- The last entry of each chain.
CREATE TABLE audit_heads (tenant text PRIMARY KEY, number bigint NOT NULL, hash text NOT NULL);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are added and never changed', TG_TABLE_NAME;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE ON audit_contents FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE ON remarks FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_other_than_next_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' OR NEW.tenant <> OLD.tenant OR NEW.number <> OLD.number + 1 THEN
        RAISE EXCEPTION 'the end of the audit log only moves on, one entry at a time';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER moves_on BEFORE UPDATE OR DELETE ON audit_heads
    FOR EACH ROW EXECUTE FUNCTION refuse_other_than_next_entry();


-- ---------------------------------------------------------------------------------------------------------------------
-- Messages: what webhooks and members are owed, claimed and settled by whoever sends

-- `sealed`: the secret that signs, encrypted.
CREATE TABLE webhooks (
    id text PRIMARY KEY,
    tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
    url text NOT NULL,
    sealed text NOT NULL,
    events text[] NOT NULL DEFAULT '{evaluation.finished,comparison.finished,ranking.finished,batch.finished}',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhooks_tenant ON webhooks (tenant);

CREATE TABLE deliveries (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    webhook text NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    payload jsonb NOT NULL,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    attempt integer NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL DEFAULT now(),
    last_result text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX deliveries_pending ON deliveries (next_at) WHERE state = 'pending';
CREATE INDEX deliveries_settled ON deliveries (created_at) WHERE state <> 'pending';
CREATE INDEX deliveries_webhook ON deliveries (webhook, created_at DESC, id);

-- Mails to members. They go with their member, and with the batch that they are about.
CREATE TABLE mails (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    member text NOT NULL REFERENCES members ON DELETE CASCADE,
    batch text REFERENCES batches ON DELETE CASCADE,
    news jsonb NOT NULL,
    state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'failed')),
    attempt integer NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL DEFAULT now(),
    last_result text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX mails_pending ON mails (next_at) WHERE state = 'pending';
CREATE INDEX mails_settled ON mails (created_at) WHERE state <> 'pending';
CREATE INDEX mails_member ON mails (member, created_at);
CREATE INDEX mails_batch ON mails (batch);


-- ---------------------------------------------------------------------------------------------------------------------
-- Outbound requests: language models and literature sources

-- Answers of language models, by cache key. `value` is text, not jsonb: a cached answer comes back to the byte.
-- `messages`: what was sent, compressed by the writer.
CREATE TABLE answers (
    key text PRIMARY KEY,
    task text NOT NULL,
    version integer NOT NULL,
    model text NOT NULL,
    value text NOT NULL,
    record jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    messages bytea
);
ALTER TABLE answers ALTER COLUMN messages SET STORAGE EXTERNAL;

-- One row for every call of a language model. `id` is drawn by the writer: the same row sent again is no second call.
-- `at`: the worker's clock; `written_at`: the server's, for comparisons with times of jobs.
CREATE TABLE ledger (
    id uuid PRIMARY KEY,
    run_id text NOT NULL,
    key text NOT NULL,
    task text NOT NULL,
    version integer NOT NULL,
    model text NOT NULL,
    prompt_tokens bigint NOT NULL,
    cached_prompt_tokens bigint NOT NULL DEFAULT 0,
    completion_tokens bigint NOT NULL,
    cost_usd double precision,
    latency_seconds double precision NOT NULL,
    attempts integer NOT NULL,
    faults jsonb NOT NULL,
    cached boolean NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('answered', 'failed', 'cancelled')),
    error text NOT NULL,
    at timestamptz NOT NULL,
    written_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX ledger_run ON ledger (run_id);
CREATE INDEX ledger_at ON ledger (at);

-- Batches of model calls that were handed to an endpoint's batch API.
CREATE TABLE llm_batches (
    id text PRIMARY KEY,
    endpoint text NOT NULL,
    model text NOT NULL,
    created_at timestamptz NOT NULL,
    until timestamptz NOT NULL,
    remote_id text NOT NULL DEFAULT '',
    cancelled_at timestamptz
);

-- Model calls that wait for such a batch, or are in one.
CREATE TABLE llm_batch_calls (
    endpoint text NOT NULL,
    key text NOT NULL,
    run_id text NOT NULL,
    model text NOT NULL,
    body text NOT NULL,
    until timestamptz NOT NULL,
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'out', 'answered', 'returned')),
    batch text REFERENCES llm_batches ON DELETE SET NULL,
    answer text,
    why text NOT NULL DEFAULT '',
    billed_to text,
    queued_at timestamptz NOT NULL,
    ended_at timestamptz,
    settled boolean NOT NULL DEFAULT false,
    PRIMARY KEY (endpoint, key)
);
CREATE INDEX llm_batch_calls_waiting ON llm_batch_calls (endpoint, model) WHERE state = 'waiting';
CREATE INDEX llm_batch_calls_batch ON llm_batch_calls (batch);
CREATE INDEX llm_batch_calls_run ON llm_batch_calls (run_id);

-- Responses of literature sources; `body` is compressed by the writer.
CREATE TABLE replies (
    key text PRIMARY KEY,
    source text NOT NULL,
    status smallint NOT NULL CHECK (status IN (200, 404)),
    body bytea NOT NULL,
    fetched_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
ALTER TABLE replies ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX replies_expires ON replies (expires_at);

-- Who is asking for what at this moment. Unlogged: a claim lost in a crash costs one more request.
CREATE UNLOGGED TABLE reply_claims (
    key text PRIMARY KEY,
    claimant text NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX reply_claims_claimant ON reply_claims (claimant);

-- Shared rate limits of sources, changed several times a second: room for new versions of a row on its page.
CREATE TABLE turns (bucket text PRIMARY KEY, version bigint NOT NULL, state jsonb NOT NULL) WITH (fillfactor = 50);


-- ---------------------------------------------------------------------------------------------------------------------
-- Viewpoint graphs: ideas with known outcomes, their viewpoints, and the edges between them

-- `plan` never changes; `version`: a hash over everything added so far, in order.
CREATE TABLE viewpoint_graphs (
    name text PRIMARY KEY,
    plan jsonb NOT NULL,
    version text NOT NULL,
    ideas integer NOT NULL DEFAULT 0,
    viewpoints integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Numbered from 0 without gaps, like rows of arrays.
CREATE TABLE viewpoint_ideas (
    graph text NOT NULL REFERENCES viewpoint_graphs ON DELETE CASCADE,
    number integer NOT NULL,
    id text NOT NULL,
    digest text NOT NULL,
    record jsonb NOT NULL,
    label text,
    maker text NOT NULL,
    PRIMARY KEY (graph, number),
    UNIQUE (graph, id)
);

-- `vector`: little-endian float32; `idea`: a number in viewpoint_ideas.
CREATE TABLE viewpoints (
    graph text NOT NULL REFERENCES viewpoint_graphs ON DELETE CASCADE,
    number integer NOT NULL,
    idea integer NOT NULL,
    statement text NOT NULL,
    words text NOT NULL,
    self_contained boolean NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (graph, number)
);

-- Undirected: source < target. Always read as a whole.
CREATE TABLE viewpoint_edges (
    graph text NOT NULL REFERENCES viewpoint_graphs ON DELETE CASCADE,
    source integer NOT NULL,
    target integer NOT NULL,
    weight real NOT NULL,
    PRIMARY KEY (graph, target, source)
);
