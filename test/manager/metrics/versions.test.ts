import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Text from "../../../src/manager/metrics/handle.ts"
import * as Versions from "../../../src/manager/metrics/versions.ts"

it.effect("show the Kubernetes version, with the program's own version as build metadata", () =>
  Effect.gen(function* () {
    yield* Versions.publish({ name: "my-controllers", version: "2.1.0-rc.1+x y" }, process)
    const text = yield* Text.text
    const labels = new Map(
      Array.from(
        (/^kubernetes_build_info{(.*)} 1$/m.exec(text)?.[1] ?? "").matchAll(/(\w+)="([^"]*)"/g),
        ([, key, value]) => [key, value]
      )
    )
    assert.strictEqual(labels.get("major"), "1")
    assert.strictEqual(labels.get("minor"), "36")
    assert.strictEqual(labels.get("git_version"), "v1.36.0+my-controllers.2.1.0-rc.1-x-y")
    assert.strictEqual(labels.get("go_version"), process.version)
    assert.match(labels.get("platform") ?? "", /^\w+\/(amd64|arm64|\w+)$/)
    assert.match(text, /^version_info{binary="1\.36",component="kube",emulation="1\.36",min_compat="1\.35"} 1$/m)
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
)
