# syntax=docker/dockerfile:1
# The manager: the program alone, as a user without rights, on a base image without a shell. It writes nothing outside of /tmp, so its root file system may be
# read-only. `npm run image` runs these steps, and the program in what they leave, without a container engine.
#
# A tag may be moved to another image. To build on the same base images every time, pin their digests, here or by --build-arg:
# `docker buildx imagetools inspect node:24-bookworm-slim` prints the digest; the pinned name is node:24-bookworm-slim@sha256:<digest>.
ARG BUILD_IMAGE=node:24-bookworm-slim
ARG RUN_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot

# The program is the same for every architecture, so it is built once, on the architecture of the builder.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
# The source maps of the program are as large as the program twice.
RUN npm run build && find dist -name "*.map" -delete && mkdir cache

FROM ${RUN_IMAGE}
WORKDIR /app
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/cache
COPY package.json LICENSE ./
COPY templates ./templates
COPY --from=build /app/dist/main.js /app/dist/THIRD-PARTY-NOTICES.txt ./dist/
COPY --from=build /app/dist/program ./dist/program
COPY --from=build /app/dist/console ./dist/console
COPY --from=build --chown=65532:65532 /app/cache ./cache
USER 65532:65532
# V8 accepts compiled code only from the same Node, architecture and flags; hence here.
# The flags: see "Memory" in docs/design/manager.md.
RUN --mount=type=bind,from=build,source=/app/scripts,target=/app/scripts ["/nodejs/bin/node", "--max-semi-space-size=16", "--v8-pool-size=1", "scripts/compiled.mjs"]
# Last, because they change with every release.
ARG VERSION=0.0.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="effect-controller-manager" \
      org.opencontainers.image.description="A Kubernetes controller manager on Effect 4" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=16", "--v8-pool-size=1", "/app/dist/main.js"]
