/**
 * What users do during the kills: they create Jobs, change the images of daemons, create and delete pods behind Services, request tokens, and delete accounts.
 * Each change is recorded as the server accepted it, so that it can be compared with the final state.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Patch from "../../../src/kube/Patch.ts"
import { DaemonSet, Job, Node, Pod, Secret, Service, ServiceAccount } from "../../../src/kube/resources.ts"
import type { Client } from "../cluster.ts"

export const namespace = "default"

export interface Asked {
  /** Completions by the name of a Job; zero for one that must fail. */
  readonly jobs: Map<string, number>
  /** Images by the name of a DaemonSet. */
  readonly daemons: Map<string, string>
  readonly services: Set<string>
  /** Names of pods behind Services, with the Service. */
  readonly pods: Map<string, string>
  /** Accounts by the name of the Secret that asks for their token. */
  readonly secrets: Map<string, string>
  readonly gone: Set<string>
}

export const nothing = (): Asked => ({
  jobs: new Map(),
  daemons: new Map(),
  services: new Set(),
  pods: new Map(),
  secrets: new Map(),
  gone: new Set()
})

const containers = (image: string, command: ReadonlyArray<string> = []) => [
  { name: "main", image, command: [...command] }
]

/** Two nodes whose pods a Service could select, and one without heartbeats. */
export const begin = Effect.fnUntraced(function* (client: Client, asked: Asked) {
  for (const name of ["log", "net"]) {
    yield* client.create(DaemonSet, {
      metadata: { namespace, name },
      spec: {
        selector: { matchLabels: { daemon: name } },
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } },
        template: {
          metadata: { labels: { daemon: name } },
          spec: {
            // The node without heartbeats has no such label: a daemon would wait for it forever.
            nodeSelector: { "kubernetes.io/os": "linux" },
            terminationGracePeriodSeconds: 0,
            containers: containers("example.test/daemon:0")
          }
        }
      }
    })
    asked.daemons.set(name, "example.test/daemon:0")
  }
  for (const name of ["red", "blue"]) {
    yield* client.create(Service, {
      metadata: { namespace, name },
      spec: { selector: { of: name }, ports: [{ port: 80 }] }
    })
    asked.services.add(name)
  }
  yield* client.create(Node, { metadata: { name: "mute" }, spec: { unschedulable: true } })
})

type Action = (client: Client, asked: Asked, number: number) => Effect.Effect<unknown, unknown>

const job: Action = Effect.fnUntraced(function* (client, asked, number) {
  const name = `job-${number}`
  const fails = number % 5 === 4
  const completions = yield* Random.nextIntBetween(2, 6)
  yield* client.create(Job, {
    metadata: { namespace, name },
    spec: {
      completions,
      parallelism: 2,
      ...(number % 3 === 0 ? { completionMode: "Indexed" } : {}),
      ...(fails ? { backoffLimit: 0 } : {}),
      template: {
        spec: {
          restartPolicy: "Never",
          terminationGracePeriodSeconds: 0,
          containers: containers("example.test/work:1", ["sh", "-c", fails ? "sleep 0.3; exit 1" : "sleep 0.3"])
        }
      }
    }
  })
  asked.jobs.set(name, fails ? 0 : completions)
})

const image: Action = Effect.fnUntraced(function* (client, asked, number) {
  const name = number % 2 === 0 ? "log" : "net"
  const chosen = `example.test/daemon:${number}`
  yield* client.patch(
    DaemonSet,
    { namespace, name },
    Patch.strategic({ spec: { template: { spec: { containers: [{ name: "main", image: chosen }] } } } })
  )
  asked.daemons.set(name, chosen)
})

const pod: Action = Effect.fnUntraced(function* (client, asked, number) {
  const name = `pod-${number}`
  const service = number % 2 === 0 ? "red" : "blue"
  yield* client.create(Pod, {
    metadata: { namespace, name, labels: { of: service } },
    spec: { terminationGracePeriodSeconds: 0, containers: containers("example.test/web:1") }
  })
  asked.pods.set(name, service)
})

const deletePod: Action = Effect.fnUntraced(function* (client, asked) {
  const [name] = asked.pods.keys()
  if (name === undefined || asked.pods.size < 8) return
  asked.pods.delete(name)
  yield* client.delete(Pod, { namespace, name })
})

const token: Action = Effect.fnUntraced(function* (client, asked, number) {
  const account = `robot-${number}`
  yield* client.create(ServiceAccount, { metadata: { namespace, name: account } })
  yield* client.create(Secret, {
    metadata: {
      namespace,
      name: `${account}-token`,
      annotations: { "kubernetes.io/service-account.name": account }
    },
    type: "kubernetes.io/service-account-token"
  })
  asked.secrets.set(`${account}-token`, account)
})

const deleteAccount: Action = Effect.fnUntraced(function* (client, asked) {
  const [[secret, account] = ["", ""]] = asked.secrets
  if (asked.secrets.size < 5) return
  asked.secrets.delete(secret)
  asked.gone.add(secret)
  yield* client.delete(ServiceAccount, { namespace, name: account })
})

const actions = [job, pod, job, token, pod, deletePod, image, job, pod, deleteAccount, deletePod]

/** One change after another, as long as it runs; an interruption never leaves one half done. No Job is created while many are open: the simulated nodes are slow. */
export const forever = (client: Client, asked: Asked, open: () => number): Effect.Effect<never> =>
  Effect.gen(function* () {
    for (let number = 0; ; number++) {
      const action = actions[number % actions.length] ?? deletePod
      if (action !== job || open() < 12) yield* Effect.uninterruptible(Effect.orDie(action(client, asked, number)))
      yield* Effect.sleep(every)
    }
  })

/** Milliseconds. */
const every = 150
