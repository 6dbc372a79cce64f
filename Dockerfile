# syntax=docker/dockerfile:1
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts: this runtime has SQLite built in, the optional native package would be compiled for nothing.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:24-slim
# An init reaps what agents leave behind.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production ACP_HUB_HOME=/data
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/config ./config
COPY --from=build /app/dist ./dist
# A volume takes the owner and mode its mount point has in the image.
RUN install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 8377
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8377/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "/app/dist/cli/main.js"]
# Inside a container loopback reaches nobody; what is exposed is decided by the published port.
CMD ["serve", "--host", "0.0.0.0"]
