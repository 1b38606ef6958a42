/**
 * What the replicas share, as the data of a Secret and back: the authorities, newest first, the key of the newest, and the certificate that all
 * of them serve with. An inconsistent Secret is an error, because serving with half of it would be
 * worse than going on with the last one. Platform edge: certificates are read and made here.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { canonical } from "../../../layers/http/address.ts"
import type { Certificate } from "../../../platform/listener/Listener.ts"
import * as Signing from "../../../platform/listener/signing.ts"
import * as Rotation from "./rotation.ts"

export interface CertificateBundle {
  readonly state: Rotation.State
  /** All authorities as PEM, newest first: what the configurations are to have. */
  readonly caBundle: string
  readonly certificate: Certificate
  /** @internal The newest authority with its key. */
  readonly signer: Certificate
}

/** Of the Secret. The first two are those of type `kubernetes.io/tls`. */
type Data = Readonly<Record<"tls.crt" | "tls.key" | "ca.crt" | "ca.key", string>>

type Parts = Pick<CertificateBundle, "caBundle" | "certificate" | "signer">

/** `data` as the API has it: base64 of each. */
export const data = ({ caBundle, certificate, signer }: Parts): Data => ({
  "tls.crt": encode(certificate.cert),
  "tls.key": encode(Redacted.value(certificate.key)),
  "ca.crt": encode(caBundle),
  "ca.key": encode(Redacted.value(signer.key))
})

const encode = (text: string): string => Buffer.from(text, "utf8").toString("base64")

/** The failure completes "the Secret cannot be used: …". Never has a part of a key in it. */
export const read = (data: Readonly<Record<string, string>> = {}): Result.Result<CertificateBundle, string> => {
  const text = (name: keyof Data): string => Buffer.from(data[name] ?? "", "base64").toString("utf8")
  const missing = (["tls.crt", "tls.key", "ca.crt", "ca.key"] as const).find((name) => text(name) === "")
  if (missing !== undefined) return Result.fail(`it has no ${missing}`)
  const [serving] = certificatesIn(text("tls.crt"))
  const authorities = certificatesIn(text("ca.crt"))
  const [newest, ...older] = authorities
  if (serving === undefined) return Result.fail("its tls.crt is no certificate")
  if (newest === undefined) return Result.fail("its ca.crt has no certificate")
  if (!isKeyOf(text("tls.key"), serving)) return Result.fail("its tls.key is not the key of tls.crt")
  if (!isKeyOf(text("ca.key"), newest))
    return Result.fail("its ca.key is not the key of the first certificate in ca.crt")
  const issuer = authorities.find((one) => serving.verify(one.publicKey))
  if (issuer === undefined) return Result.fail("its tls.crt is signed by none of the certificates in ca.crt")
  return Result.succeed({
    state: {
      authorities: [authorityOf(newest), ...older.map(authorityOf)],
      serving: { ...validityOf(serving), issuer: issuer.fingerprint256, names: namesOf(serving) }
    },
    caBundle: caBundleOf(authorities),
    certificate: { cert: text("tls.crt"), key: Redacted.make(text("tls.key")) },
    signer: { cert: caBundleOf([newest]), key: Redacted.make(text("ca.key")) }
  })
}

/** The certificates of a bundle that can be read; a text that is none has none. */
export const certificatesIn = (pem: string): ReadonlyArray<X509Certificate> => {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    return found.map((one) => new X509Certificate(one))
  } catch {
    return []
  }
}

const caBundleOf = (all: ReadonlyArray<X509Certificate>): string => all.map((one) => one.toString()).join("")

const isKeyOf = (key: string, certificate: X509Certificate): boolean => {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

const validityOf = ({ validFrom, validTo }: X509Certificate) => ({
  notBefore: Date.parse(validFrom),
  notAfter: Date.parse(validTo)
})

const authorityOf = (one: X509Certificate): Rotation.Authority => ({ id: one.fingerprint256, ...validityOf(one) })

const namesOf = ({ subjectAltName = "" }: X509Certificate): ReadonlyArray<string> =>
  subjectAltName.split(", ").map((one) => canonical(one.replace(/^(DNS|IP Address):/, "")))

/** Names for humans. They differ, because a certificate with the name of its issuer counts as self-signed. */
const called = {
  authority: "effect-controller-manager webhook authority",
  serving: "effect-controller-manager webhooks"
}

interface Moment {
  /** Milliseconds of the wall clock. */
  readonly now: number
  readonly names: ReadonlyArray<string>
}

/** The bundle after a step of the rotation; `Publish` changes none. */
export const after = (
  step: Exclude<Rotation.Step, "Publish">,
  before: CertificateBundle | undefined,
  moment: Moment
): Effect.Effect<CertificateBundle> =>
  Effect.promise(async () => {
    if (before === undefined || step === "Start") {
      const signer = await newAuthority(moment)
      return whole({ signer, caBundle: signer.cert, certificate: await newServing(signer, moment) })
    }
    const { caBundle, certificate, signer } = before
    switch (step) {
      case "Sign":
        return whole({ signer, caBundle, certificate: await newServing(signer, moment) })
      case "Succeed": {
        const successor = await newAuthority(moment)
        return whole({ signer: successor, caBundle: successor.cert + caBundle, certificate })
      }
      case "Forget": {
        const ids = Rotation.remaining(before.state, moment.now).map(({ id }) => id)
        const left = certificatesIn(caBundle).filter((one) => ids.includes(one.fingerprint256))
        return whole({ signer, caBundle: caBundleOf(left), certificate })
      }
    }
  })

const newAuthority = ({ now }: Moment): Promise<Certificate> =>
  Signing.authority({ name: called.authority, ...Rotation.validity(now, Rotation.lifetimes.authority) })

const newServing = (by: Certificate, { names, now }: Moment): Promise<Certificate> => {
  const [issuer] = certificatesIn(by.cert).map(authorityOf)
  return Signing.signed(by, {
    name: called.serving,
    hosts: names,
    ...Rotation.validity(now, Rotation.lifetimes.serving, issuer)
  })
}

/** Reads it back as other replicas will: what cannot be read is not written. */
const whole = (parts: Parts): CertificateBundle => Result.getOrThrow(read(data(parts)))
