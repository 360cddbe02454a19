# docker build -t yatta . && docker run -p 1234:1234 -v yatta:/data yatta
FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin yatta

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --no-create-home yatta && mkdir /data && chown yatta /data
COPY --from=build /src/target/release/yatta /usr/local/bin/yatta
USER yatta
VOLUME /data
EXPOSE 1234
ENV YATTA_LISTEN=0.0.0.0:1234 YATTA_DATA_DIR=/data
# SIGTERM drains.
STOPSIGNAL SIGTERM
ENTRYPOINT ["yatta", "serve"]
