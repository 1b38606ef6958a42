/**
 * The certificates that the manager creates, stored in one Secret for all replicas. The first replica creates the Secret, and every replica reads
 * it again every ten seconds. The leader renews the certificates and publishes the authorities to the API server. If another replica has written in
 * between, a write fails with a conflict, and the Secret is read again. A failure is logged once and retried.
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
import type { Certificate, Certificates } from "../../../layers/http/Certificates.ts"
import * as CertificateBundle from "./CertificateBundle.ts"
import * as Publication from "./publication.ts"
import * as Rotation from "./rotation.ts"

/** There is no certificate to serve with; the message is one sentence for the user. */
export class CertificateManagerError extends Data.TaggedError("CertificateManagerError")<{
  readonly message: string
}> {}

export interface Options {
  /** Namespace and name of the Secret. */
  readonly namespace: string
  readonly name: string
  /** The host names by which the API server may call the webhooks. */
  readonly hosts: ReadonlyArray<string>
}

/** The Secret as it was read. */
interface Stored {
  readonly secret: Secret
  readonly bundle: CertificateBundle.CertificateBundle
}

/** How often every replica reads the Secret, and the leader also the configurations. */
const interval = "10 seconds"

/** The most steps of the leader in one round. More are needed only if another client undoes them. */
const maxSteps = 10

/** How long a start waits for an API server that does not respond. */
const startTimeout = "10 seconds"

/** Returns the certificate of the Secret; creates the Secret if it is missing. */
export const open = (
  options: Options
): Effect.Effect<CertificateBundle.CertificateBundle, CertificateManagerError, KubeClient | Certificates> =>
  readOrRepair(options).pipe(
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
  const checkSecret = Effect.gen(function* () {
    const { bundle } = yield* readOrRepair(options)
    if (isSame(bundle.certificate, present)) return
    present = bundle.certificate
    replace(bundle)
    yield* Effect.logInfo("The webhooks' certificate has changed and is in use")
  })
  return Effect.forkScoped(
    repeatedly(checkSecret, "the webhooks' certificate could not be checked; keeping the current one")
  )
}

const isSame = (a: Certificate, b: Certificate): boolean =>
  a.cert === b.cert && Redacted.value(a.key) === Redacted.value(b.key)

/** Repeats the work; a failure is logged if it differs from the last one. */
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

/** Reads the Secret, and makes the repairs that any replica may make. */
const readOrRepair = (
  options: Options
): Effect.Effect<Stored, ApiError | CertificateManagerError, KubeClient | Certificates> =>
  Effect.gen(function* () {
    const stored = yield* readSecret(options)
    const step = Rotation.repair(stored?.bundle.state, yield* Clock.currentTimeMillis)
    if (step === undefined && stored !== undefined) return stored
    return yield* write(options, stored, step ?? "Start")
  }).pipe(Effect.retry({ while: isOvertaken, times: 5 }))

const isOvertaken = (error: ApiError | CertificateManagerError): boolean =>
  error._tag === "ApiError" && hasReason(error, "Conflict", "AlreadyExists")

const readSecret = Effect.fnUntraced(function* (options: Options) {
  const { name, namespace } = options
  const secret = yield* found(Secret, { namespace, name })
  if (secret === undefined) return undefined
  const bundle = yield* CertificateBundle.read(secret.data)
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
      : // Carries the resource version that was read, so it conflicts if another replica has written.
        yield* client.update(Secret, { ...stored.secret, data })
  yield* Effect.logInfo(said[step])
  return { secret, bundle } satisfies Stored
})

const said = {
  Start: "Created an authority for the webhooks and a certificate",
  Succeed: "Created a new authority for the webhooks, which signs after its publication",
  Sign: "Renewed the webhooks' certificate",
  Forget: "Removed an expired authority for the webhooks"
} as const

/** The task of the leader: renews what is due and publishes the authorities to the API server. Never ends. */
export const keep = (options: Options, targets: ReadonlyArray<Publication.Target>) =>
  Effect.gen(function* () {
    const millis = Monotonic.millis(yield* Clock.Clock)
    /** Since when all configurations have had this caBundle. */
    let published = { caBundle: "", since: 0 }
    const publishedFor = (caBundle: string, isMissing: boolean): number | undefined => {
      if (isMissing || caBundle === "") return void (published = { caBundle: "", since: 0 })
      if (published.caBundle !== caBundle) published = { caBundle, since: millis() }
      return millis() - published.since
    }
    /** One round; returns whether there was something to do. */
    const round: Effect.Effect<boolean, ApiError | CertificateManagerError, KubeClient | Certificates> = Effect.gen(
      function* () {
        // The configurations are read before the Secret: if another replica changes them later, our patch conflicts.
        const lives = yield* Effect.forEach(targets, present)
        const stored = yield* readSecret(options)
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
      }
    ).pipe(Effect.retry({ while: isOvertaken, times: 5 }))
    const rounds = (left: number): Effect.Effect<void, ApiError | CertificateManagerError, KubeClient | Certificates> =>
      Effect.flatMap(round, (more) => (more && left > 1 ? rounds(left - 1) : Effect.void))
    const all = rounds(maxSteps)
    yield* Effect.ignore(all)
    return yield* repeatedly(all, "the webhooks' authorities could not be maintained")
  })

/** The configuration; undefined if it is not installed yet. */
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
