/**
 * What the replicas share, written to the data of a Secret and read from it: the authorities, newest first, the key of the newest, and the certificate
 * that all replicas serve with. An inconsistent Secret is an error: a replica then keeps the last consistent one.
 */
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { canonical } from "../../../layers/http/address.ts"
import { type Certificate, Certificates, type X509 } from "../../../layers/http/Certificates.ts"
import * as Rotation from "./rotation.ts"

export interface CertificateBundle {
  readonly state: Rotation.State
  /** All authorities as PEM, newest first: the `caBundle` of the configurations. */
  readonly caBundle: string
  readonly certificate: Certificate
  /** The newest authority with its key. */
  readonly signer: Certificate
}

/** The data of the Secret. The first two keys are those of type `kubernetes.io/tls`. */
type Data = Readonly<Record<"tls.crt" | "tls.key" | "ca.crt" | "ca.key", string>>

type Parts = Pick<CertificateBundle, "caBundle" | "certificate" | "signer">

/** The data of the Secret, in base64. */
export const data = ({ caBundle, certificate, signer }: Parts): Data => ({
  "tls.crt": Base64.encode(certificate.cert),
  "tls.key": Base64.encode(Redacted.value(certificate.key)),
  "ca.crt": Base64.encode(caBundle),
  "ca.key": Base64.encode(Redacted.value(signer.key))
})

const decode = (text: string): string => Result.getOrElse(Base64.decodeString(text), () => "")

/** The failure completes "the Secret cannot be used: …". It never holds a part of a key. */
export const read = (
  data: Readonly<Record<string, string>> = {}
): Effect.Effect<Result.Result<CertificateBundle, string>, never, Certificates> =>
  Effect.map(Certificates, (certificates) => bundleIn(certificates, data))

const bundleIn = (
  certificates: Certificates["Service"],
  data: Readonly<Record<string, string>>
): Result.Result<CertificateBundle, string> => {
  const text = (name: keyof Data): string => decode(data[name] ?? "")
  const missing = (["tls.crt", "tls.key", "ca.crt", "ca.key"] as const).find((name) => text(name) === "")
  if (missing !== undefined) return Result.fail(`it has no ${missing}`)
  const [serving] = certificates.read(text("tls.crt"))
  const authorities = certificates.read(text("ca.crt"))
  const [newest, ...older] = authorities
  if (serving === undefined) return Result.fail("its tls.crt is no certificate")
  if (newest === undefined) return Result.fail("its ca.crt has no certificate")
  if (!serving.hasKey(text("tls.key"))) return Result.fail("its tls.key is not the key of tls.crt")
  if (!newest.hasKey(text("ca.key"))) return Result.fail("its ca.key is not the key of the first certificate in ca.crt")
  const issuer = authorities.find((one) => serving.isSignedBy(one))
  if (issuer === undefined) return Result.fail("its tls.crt is signed by none of the certificates in ca.crt")
  return Result.succeed({
    state: {
      authorities: [authorityOf(newest), ...older.map(authorityOf)],
      serving: { ...validityOf(serving), issuer: issuer.fingerprint, names: serving.hosts.map(canonical) }
    },
    caBundle: caBundleOf(authorities),
    certificate: { cert: text("tls.crt"), key: Redacted.make(text("tls.key")) },
    signer: { cert: newest.pem, key: Redacted.make(text("ca.key")) }
  })
}

const caBundleOf = (all: ReadonlyArray<X509>): string => all.map(({ pem }) => pem).join("")

const validityOf = ({ notAfter, notBefore }: X509) => ({ notBefore, notAfter })

const authorityOf = (one: X509): Rotation.Authority => ({ id: one.fingerprint, ...validityOf(one) })

/** Common names. They differ, because a certificate with the name of its issuer counts as self-signed. */
const commonNames = {
  authority: "effect-controller-manager webhook authority",
  serving: "effect-controller-manager webhooks"
}

interface Moment {
  /** Milliseconds of the wall clock. */
  readonly now: number
  readonly names: ReadonlyArray<string>
}

/** The bundle after a step of the rotation. `Publish` does not change it. */
export const after = Effect.fnUntraced(function* (
  step: Exclude<Rotation.Step, "Publish">,
  before: CertificateBundle | undefined,
  moment: Moment
) {
  if (before === undefined || step === "Start") {
    const signer = yield* newAuthority(moment)
    return yield* validated({ signer, caBundle: signer.cert, certificate: yield* newServing(signer, moment) })
  }
  const { caBundle, certificate, signer } = before
  switch (step) {
    case "Sign":
      return yield* validated({ signer, caBundle, certificate: yield* newServing(signer, moment) })
    case "Succeed": {
      const successor = yield* newAuthority(moment)
      return yield* validated({ signer: successor, caBundle: successor.cert + caBundle, certificate })
    }
    case "Forget": {
      const ids = Rotation.remaining(before.state, moment.now).map(({ id }) => id)
      const left = (yield* Certificates).read(caBundle).filter(({ fingerprint }) => ids.includes(fingerprint))
      return yield* validated({ signer, caBundle: caBundleOf(left), certificate })
    }
  }
})

const newAuthority = Effect.fnUntraced(function* ({ now }: Moment) {
  const certificates = yield* Certificates
  return yield* certificates.authority({
    name: commonNames.authority,
    ...Rotation.validity(now, Rotation.lifetimes.authority)
  })
})

const newServing = Effect.fnUntraced(function* (by: Certificate, { names, now }: Moment) {
  const certificates = yield* Certificates
  const [issuer] = certificates.read(by.cert).map(authorityOf)
  return yield* certificates.sign(by, {
    name: commonNames.serving,
    hosts: names,
    ...Rotation.validity(now, Rotation.lifetimes.serving, issuer)
  })
})

/** Reads the data back as other replicas will, so that unreadable data is never written. */
const validated = (parts: Parts): Effect.Effect<CertificateBundle, never, Certificates> =>
  Effect.map(read(data(parts)), Result.getOrThrow)
