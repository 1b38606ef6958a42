/**
 * The key that signs service account tokens and the root authority that is published, read from the files of `--service-account-private-key-file` and
 * `--root-ca-file`. They replace what the connection to the cluster provides. If a file cannot be used, the program does not start; the message is one
 * sentence and quotes nothing of the file.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import * as TokenSigner from "../../apiserver/server/tokenSigner.ts"
import { ClusterAuthority } from "../../layers/ClusterAuthority.ts"

/** A file that cannot be used; the message is one sentence that names it. */
export class AuthorityFileError extends Data.TaggedError("AuthorityFileError")<{ readonly message: string }> {}

export interface Files {
  /** PEM with a private key, RSA or elliptic. */
  readonly key: string | undefined
  /** PEM with one certificate or more. */
  readonly rootCa: string | undefined
}

/** Replaces only what a file is given for. */
export const layer = ({ key, rootCa }: Files): Layer.Layer<ClusterAuthority, AuthorityFileError, ClusterAuthority> =>
  Layer.effect(
    ClusterAuthority,
    Effect.gen(function* () {
      const known = yield* ClusterAuthority
      return ClusterAuthority.of({
        signer: key === undefined ? known.signer : yield* signerIn(key),
        rootCa: rootCa === undefined ? known.rootCa : yield* authoritiesIn(rootCa)
      })
    })
  )

const signerIn = (path: string) =>
  using("--service-account-private-key-file", path, (text) => {
    const block = keyIn(text)
    if (block === undefined) {
      throw new Refused(
        text.includes("ENCRYPTED")
          ? "its private key is encrypted: store it without a passphrase"
          : "it has no private key in PEM"
      )
    }
    if (block.includes("ENCRYPTED")) throw new Refused("its private key is encrypted: store it without a passphrase")
    const signer = TokenSigner.of(privateKeyOf(block))
    if (signer === undefined) throw new Refused("its key is neither RSA nor of the curves P-256, P-384 and P-521")
    return signer
  })

/** The first private key, with its BEGIN and END lines. */
const keyIn = (text: string): string | undefined => {
  const begin = /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----/.exec(text)
  if (begin === null) return undefined
  const end = `-----END ${begin[1]}-----`
  const at = text.indexOf(end, begin.index)
  return at === -1 ? undefined : text.slice(begin.index, at + end.length)
}

/** Node's own message about an invalid key is not shown. */
const privateKeyOf = (pem: string) => {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new Refused("its private key cannot be read")
  }
}

const authoritiesIn = (path: string) =>
  using("--root-ca-file", path, (text) => {
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
    if (blocks.length === 0) throw new Refused("it has no certificate in PEM")
    for (const [index, block] of blocks.entries()) {
      try {
        void new X509Certificate(block).subject
      } catch {
        throw new Refused(`its certificate ${index + 1} cannot be read`)
      }
    }
    return text
  })

class Refused extends Error {}

const using = <A>(flag: string, path: string, read: (text: string) => A) =>
  Effect.tryPromise({
    try: async () => read(await readFile(path, "utf8")),
    catch: (error) => new AuthorityFileError({ message: `${flag} cannot be used: ${path}: ${why(error)}` })
  })

const why = (error: unknown): string => {
  if (error instanceof Refused) return error.message
  const code = error instanceof Error && "code" in error ? error.code : undefined
  switch (code) {
    case "ENOENT":
      return "there is no such file"
    case "EACCES":
      return "it may not be read"
    case "EISDIR":
      return "it is a directory"
    default:
      return `it cannot be read (${String(code)})`
  }
}
