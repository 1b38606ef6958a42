/** Settings of the process. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { parseDuration } from "../../kube/time.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"

/** A negative duration means no limit. */
const budget: Codecs.Codec<Duration.Duration> = {
  metavar: "duration",
  expected: "a duration like 30s, 0, or a negative one like -1 or -1s for no limit",
  decode: (value) =>
    /^-[1-9]\d*$/.test(value) ||
    (value.startsWith("-") && Option.exists(parseDuration(value.slice(1)), Duration.isPositive))
      ? Option.some(Duration.infinity)
      : parseDuration(value)
}

export const settings = {
  config: Setting.optional(Codecs.text("file"), {
    name: "config",
    group: "process",
    description: "YAML or JSON file with settings: the names of flags without dashes in front, and their values"
  }),
  shutdownTimeout: Setting.make(budget, {
    name: "graceful-shutdown-timeout",
    group: "process",
    description:
      "Time limit of an orderly stop; after it the process exits with code 1. With 0 reconciles in flight are interrupted at once; -1 is no limit",
    default: "30s"
  }),
  shutdownMode: Setting.make(Codecs.choice(["drain", "interrupt"]), {
    name: "shutdown-mode",
    group: "process",
    description: "Whether an orderly stop lets reconciles in flight finish or interrupts them at once",
    default: "drain"
  })
}

/** Credentials belong into OTEL_EXPORTER_OTLP_HEADERS, because `/configz` shows this address. */
const endpoint: Codecs.Codec<URL> = {
  metavar: "url",
  expected: "an address like http://127.0.0.1:4318, without a password in it",
  decode: (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
    return isPlain ? Option.some(url) : Option.none()
  }
}

/** What the process sends to an OpenTelemetry collector. */
export const telemetry = {
  otlpEndpoint: Setting.optional(endpoint, {
    name: "otlp-endpoint",
    env: "OTEL_EXPORTER_OTLP_ENDPOINT",
    group: "telemetry",
    description: "Where traces, logs and metrics are sent by OTLP over HTTP; nothing is sent without it"
  }),
  clientMetrics: Setting.make(Codecs.choice(["basic", "all"]), {
    name: "client-metrics",
    group: "telemetry",
    description:
      "Metrics of requests to the API server: basic counts them, all measures their durations, sizes and retries too",
    default: "basic"
  })
}
