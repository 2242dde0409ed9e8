# The image of the tool; git is what `aqlgen update` merges with. docs/serve.md shows its use.
FROM python:3.13-slim AS build
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM python:3.13-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && useradd --create-home aqlgen
USER aqlgen
WORKDIR /work
ENTRYPOINT ["aqlgen"]
