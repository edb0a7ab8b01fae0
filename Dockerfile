# The command line in an image that holds nothing else: no Node, no shell, no package manager.
FROM node:24-slim AS build
WORKDIR /build
COPY . .
RUN npm ci && npm run binary -- --host --no-tests
# The file, and the libraries of the system that it is linked with.
RUN mkdir -p /image /image-state \
  && cp binaries/partner-exchange-* /image/partner-exchange \
  && cp binaries/LICENSES.txt /image/ \
  && cp --dereference --parents $(ldd /image/partner-exchange | grep -o '/lib[^ ]*') /image

FROM scratch
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /image-state /state
# Where commands write the files that they are asked for. The rest of the file system can be read-only.
VOLUME ["/state"]
WORKDIR /state
USER 65532:65532
EXPOSE 4200
ENTRYPOINT ["/partner-exchange"]
CMD ["sandbox", "--host", "0.0.0.0"]
