# Targets: `server` (web, worker, beat, prepare) and `agent`, which is the same with the load tool.
# Of a pinned image its digest is pulled; the tag says what it is.

FROM node:24.19.0-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS frontend
WORKDIR /srv/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY frontend/ ./
RUN npm run build

FROM python:3.11.16-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS packages
COPY config/launch/uv.txt requirements-server.txt /tmp/
RUN python -m venv /opt/uv \
    && /opt/uv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r /tmp/uv.txt \
    && /opt/uv/bin/uv venv --python "$(command -v python)" /opt/splashboard \
    && /opt/uv/bin/uv pip sync --no-cache --compile-bytecode --python /opt/splashboard/bin/python --require-hashes /tmp/requirements-server.txt

FROM python:3.11.16-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS server
ENV PATH=/opt/splashboard/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    SPLASHBOARD_VAR=/var/lib/splashboard
RUN useradd --system --uid 10001 --home-dir /var/lib/splashboard splashboard \
    && install -d -o splashboard -g splashboard -m 0700 /var/lib/splashboard /var/lib/splashboard-agent \
    && apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/*
COPY --from=packages /opt/splashboard /opt/splashboard
WORKDIR /srv/splashboard
COPY manage.py ./
COPY apps apps
COPY campaigns campaigns
COPY config config
COPY docs docs
COPY workers workers
# To which a link of workers/agent leads.
COPY client/splashboard/prometheus client/splashboard/prometheus
COPY --from=frontend /srv/frontend/dist frontend/dist
USER splashboard
EXPOSE 8000
CMD ["python", "-m", "config.serving", "--host", "0.0.0.0", "--port", "8000", "--workers", "2"]

FROM server AS agent
USER root
RUN apt-get update \
    && apt-get install --yes --no-install-recommends sysbench \
    && rm -rf /var/lib/apt/lists/*
USER splashboard
CMD ["python", "-m", "workers.agent", "run", "--config", "/var/lib/splashboard-agent/agent.toml"]
