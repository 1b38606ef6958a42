/** What leaves the process about itself, besides logs and what is asked for. */
import * as Option from "effect/Option"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

/** Credentials belong into OTEL_EXPORTER_OTLP_HEADERS: an address is shown to whoever asks for the settings. */
const endpoint: Setting.Codec<URL> = {
  metavar: "url",
  expected: "an address like http://127.0.0.1:4318, without a password in it",
  decode: (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
    return isPlain ? Option.some(url) : Option.none()
  }
}

export const settings = {
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
