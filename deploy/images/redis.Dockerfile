# quelea-redis, of Debian's packages on the base of the other images; redis_image.py makes the context (`make images`).
ARG BASE=quelea-base:latest
FROM ${BASE}
COPY files/ /
ENV PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 TZ=UTC
USER 65532:65532
WORKDIR /tmp
EXPOSE 6379
CMD ["redis-server"]
