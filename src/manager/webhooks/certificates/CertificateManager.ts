/**
 * The certificates that the manager creates, stored in one Secret for all replicas. The first replica creates the Secret, all others read
 * it again every ten seconds; the leader renews it and publishes the authorities to the API server. A write fails with a conflict when another
 * replica has written in between: then everything is read again. A failure is logged once and retried. Platform edge, because
 * certificates are read here.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { type ApiError, hasReason, isTransient } from "../../../kube/ApiError.ts"
import type { KubeObject } from "../../../kube/Meta.ts"
import type * as Patch from "../../../kube/Patch.ts"
import type * as Resource from "../../../kube/Resource.ts"
import { Secret } from "../../../kube/resources.ts"
import * as Monotonic from "../../../streams/monotonic.ts"
import { KubeClient, type Target as Named } from "../../../layers/KubeClient.ts"
import type { Certificate } from "../../../platform/listener/Listener.ts"
import * as CertificateBundle from "./CertificateBundle.ts"
import * as Publication from "./publication.ts"
import * as Rotation from "./rotation.ts"

/** There is no certificate to serve with; the message is one sentence for the user. */
export class CertificateManagerError extends Data.TaggedError("CertificateManagerError")<{
  readonly message: string
}> {}

export interface Options {
  /** Of the Secret. */
  readonly namespace: string
  readonly name: string
  /** The hosts that the API server may ask for. */
  readonly hosts: ReadonlyArray<string>
}

/** The Secret as it was read. */
interface Stored {
  readonly secret: Secret
  readonly bundle: CertificateBundle.CertificateBundle
}

/** How often the Secret and, by the leader, the configurations are read. */
const interval = "10 seconds"

/** The most steps of the leader in one round; there are more only if another client undoes them. */
const atOnce = 10

/** How long a start waits for a server that does not answer. */
const startTimeout = "10 seconds"

/** The certificate to begin with: the one that is there, or a new one that is there from now on. */
export const open = (
  options: Options
): Effect.Effect<CertificateBundle.CertificateBundle, CertificateManagerError, KubeClient> =>
  ensured(options).pipe(
    Effect.retry({
      while: (error) => error._tag === "ApiError" && isTransient(error),
      schedule: Schedule.upTo(Schedule.spaced("500 millis"), { duration: startTimeout })
    }),
    Effect.catchTag("ApiError", (error) => Effect.fail(unavailable(options, error))),
    Effect.map(({ bundle }) => bundle)
  )

const unavailable = ({ name, namespace }: Options, error: ApiError) =>
  new CertificateManagerError({
    message: `cannot keep the webhooks' certificate in Secret ${namespace}/${name}: ${error.message}`
  })

/** Calls `replace` with each new certificate, for as long as the scope is open. */
export const follow = (
  options: Options,
  first: Certificate,
  replace: (bundle: CertificateBundle.CertificateBundle) => void
) => {
  let present = first
  const look = Effect.gen(function* () {
    const { bundle } = yield* ensured(options)
    if (isSame(bundle.certificate, present)) return
    present = bundle.certificate
    replace(bundle)
    yield* Effect.logInfo("The webhooks' certificate has changed and is in use")
  })
  return Effect.forkScoped(
    repeatedly(look, "the webhooks' certificate was not looked at; going on with the one there is")
  )
}

const isSame = (a: Certificate, b: Certificate): boolean =>
  a.cert === b.cert && Redacted.value(a.key) === Redacted.value(b.key)

/** Repeats the work; a failure is logged when it is not the one before. */
const repeatedly = <E extends Error, R>(
  work: Effect.Effect<void, E, R>,
  sentence: string
): Effect.Effect<never, never, R> => {
  let last = ""
  const once = Effect.matchEffect(work, {
    onSuccess: () => Effect.sync(() => void (last = "")),
    onFailure: ({ message }) =>
      Effect.suspend(() => {
        if (message === last) return Effect.void
        last = message
        return Effect.logWarning(`${sentence}: ${message}`)
      })
  })
  return Effect.forever(Effect.delay(once, interval))
}

/** The Secret, after the repairs that any replica may make. */
const ensured = (options: Options): Effect.Effect<Stored, ApiError | CertificateManagerError, KubeClient> =>
  Effect.gen(function* () {
    const stored = yield* look(options)
    const step = Rotation.repair(stored?.bundle.state, yield* Clock.currentTimeMillis)
    if (step === undefined && stored !== undefined) return stored
    return yield* write(options, stored, step ?? "Start")
  }).pipe(Effect.retry({ while: isOvertaken, times: 5 }))

const isOvertaken = (error: ApiError | CertificateManagerError): boolean =>
  error._tag === "ApiError" && hasReason(error, "Conflict", "AlreadyExists")

const look = Effect.fnUntraced(function* (options: Options) {
  const { name, namespace } = options
  const secret = yield* found(Secret, { namespace, name })
  if (secret === undefined) return undefined
  const bundle = CertificateBundle.read(secret.data)
  if (Result.isSuccess(bundle)) return { secret, bundle: bundle.success } satisfies Stored
  return yield* new CertificateManagerError({
    message: `Secret ${namespace}/${name} cannot be used for the webhooks' certificate: ${bundle.failure}; delete it, and a new one is made`
  })
})

const found = <A extends KubeObject>(
  resource: Resource.Resource<A>,
  target: Named
): Effect.Effect<A | undefined, ApiError, KubeClient> =>
  Effect.flatMap(KubeClient, (client) => client.get(resource, target)).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "NotFound",
      () => Effect.undefined
    )
  )

const write = Effect.fnUntraced(function* (
  { hosts, name, namespace }: Options,
  stored: Stored | undefined,
  step: Exclude<Rotation.Step, "Publish">
) {
  const client = yield* KubeClient
  const now = yield* Clock.currentTimeMillis
  const bundle = yield* CertificateBundle.after(step, stored?.bundle, { now, names: hosts })
  const data = CertificateBundle.data(bundle)
  const metadata = { name, namespace, labels: { "app.kubernetes.io/component": "webhooks" } }
  const secret =
    stored === undefined
      ? yield* client.create(Secret, { metadata, type: "kubernetes.io/tls", data })
      : // With the version that was read: a conflict when another replica has written.
        yield* client.update(Secret, { ...stored.secret, data })
  yield* Effect.logInfo(said[step])
  return { secret, bundle } satisfies Stored
})

const said = {
  Start: "An authority for the webhooks and a certificate by it are new",
  Succeed: "A new authority for the webhooks is there; it signs once it has been published",
  Sign: "The webhooks' certificate is renewed",
  Forget: "An authority for the webhooks has expired and is left out"
} as const

/** The leader's work: renews what is due, and publishes the authorities to the API server. Never ends. */
export const keep = (options: Options, targets: ReadonlyArray<Publication.Target>) =>
  Effect.gen(function* () {
    const millis = Monotonic.millis(yield* Clock.Clock)
    /** Since when all configurations have been seen with this caBundle. */
    let sight = { caBundle: "", since: 0 }
    const publishedFor = (caBundle: string, isMissing: boolean): number | undefined => {
      if (isMissing || caBundle === "") return void (sight = { caBundle: "", since: 0 })
      if (sight.caBundle !== caBundle) sight = { caBundle, since: millis() }
      return millis() - sight.since
    }
    /** Whether there was something to do. */
    const round: Effect.Effect<boolean, ApiError | CertificateManagerError, KubeClient> = Effect.gen(function* () {
      // Before the Secret is read: if another replica writes them after this, our patch fails with a conflict.
      const lives = yield* Effect.forEach(targets, present)
      const stored = yield* look(options)
      const caBundle = stored?.bundle.caBundle ?? ""
      const patches = lives.flatMap(({ live, target }) => {
        const patch = live === undefined ? undefined : Publication.patchOf(target, live, caBundle)
        return patch === undefined ? [] : [{ target, patch }]
      })
      const now = yield* Clock.currentTimeMillis
      const step = Rotation.next(stored?.bundle.state, {
        now,
        names: options.hosts,
        publishedFor: publishedFor(caBundle, patches.length > 0)
      })
      if (step === undefined) return false
      if (step === "Publish") yield* Effect.forEach(patches, publish, { discard: true })
      else yield* write(options, stored, step)
      return true
    }).pipe(Effect.retry({ while: isOvertaken, times: 5 }))
    const rounds = (left: number): Effect.Effect<void, ApiError | CertificateManagerError, KubeClient> =>
      Effect.flatMap(round, (more) => (more && left > 1 ? rounds(left - 1) : Effect.void))
    const all = rounds(atOnce)
    yield* Effect.ignore(all)
    return yield* repeatedly(all, "the webhooks' authorities could not be looked after")
  })

/** Undefined: it is not installed yet. */
const present = Effect.fnUntraced(function* (target: Publication.Target) {
  const live = yield* found<KubeObject>(target.resource, { name: target.name })
  if (live !== undefined || target._tag === "Conversion" || target.wanted === undefined) return { target, live }
  const client = yield* KubeClient
  return { target, live: yield* client.create(target.resource, target.wanted) }
})

const publish = ({ patch, target: { name, resource } }: { patch: Patch.Patch; target: Publication.Target }) =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    yield* client.patch<KubeObject>(resource, { name }, patch)
    yield* Effect.logInfo(`${resource.kind} ${name} has the webhooks' authorities`)
  })
