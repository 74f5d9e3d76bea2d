# The job with everything it needs: Python packages in their pinned versions, Java, and the jars.
# Nothing is fetched when it starts. docs/deploy/docker.md tells how to run it.
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY constraints.txt ./
# The versions of constraints.txt; its hashes are of files that pip checks only if all have one.
RUN python -m venv /opt/duestream \
 && sed -E '/^ +--hash/d; s/ \\$//' constraints.txt > versions.txt
COPY . .
RUN /opt/duestream/bin/pip install --no-cache-dir --constraint versions.txt \
      '.[spark,mongo,metrics]' \
 && DUESTREAM_CACHE=/opt/duestream/cache /opt/duestream/bin/python -c \
      'from pipeline.jvm import spark_jars; spark_jars()'

FROM python:${PYTHON}
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --home-dir /var/lib/duestream --create-home duestream
COPY --from=build /opt/duestream /opt/duestream
ENV PATH=/opt/duestream/bin:$PATH \
    DUESTREAM_CACHE=/opt/duestream/cache \
    DUESTREAM_METRICS__HOST=0.0.0.0 \
    DUESTREAM_METRICS__PORT=9464 \
    PYTHONUNBUFFERED=1
EXPOSE 9464
USER 10001:10001
WORKDIR /var/lib/duestream
# State and checkpoint, where they are not in an object store.
VOLUME /var/lib/duestream
HEALTHCHECK --interval=15s --timeout=10s --start-period=90s --retries=4 \
  CMD ["duestream", "health"]
ENTRYPOINT ["duestream"]
CMD ["run"]
