# The image of the job for the Spark operator: ours, with Spark where Kubernetes looks for it.
#   docker build -t duestream:0.1.0 . && docker build -t duestream-spark:0.1.0 -f conf/k8s/spark.Dockerfile .
FROM apache/spark:4.2.0-scala2.13-java17-python3-ubuntu AS spark

FROM duestream:0.1.0
USER 0:0
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends procps tini \
 && rm -rf /var/lib/apt/lists/* \
 && ln -s "$(python -c 'import pyspark; print(pyspark.__path__[0])')" /opt/spark \
 && cp /opt/duestream/cache/jars/*/spark/*.jar /opt/spark/jars/
COPY --from=spark /opt/entrypoint.sh /opt/decom.sh /opt/
COPY conf/spark-submit/job.py /opt/duestream/job.py
ENV SPARK_HOME=/opt/spark \
    PYSPARK_PYTHON=/opt/duestream/bin/python \
    PYSPARK_DRIVER_PYTHON=/opt/duestream/bin/python
USER 10001:10001
HEALTHCHECK NONE
ENTRYPOINT ["/opt/entrypoint.sh"]
