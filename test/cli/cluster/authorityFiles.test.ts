/** The files of the signing key and the root authority: each mistake is one sentence, which never quotes a key. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { ClusterAuthority } from "../../../src/layers/ClusterAuthority.ts"
import * as AuthorityFiles from "../../../src/cli/cluster/authorityFiles.ts"
import * as Process from "../../support/process.ts"
import { authority } from "../../support/tls.ts"

const read = (files: AuthorityFiles.Files) =>
  Effect.scoped(
    Effect.map(Layer.build(Layer.provide(AuthorityFiles.layer(files), ClusterAuthority.layerNoop)), (context) =>
      Effect.runSync(Effect.provideContext(ClusterAuthority, context))
    )
  )

const file = (content: string) =>
  Effect.flatMap(Process.folder, (folder) =>
    Effect.promise(async () => {
      const path = join(folder, "file.pem")
      await writeFile(path, content)
      return path
    })
  )

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey
const elliptic = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).privateKey

const keys = [
  ["RS256", "sha256", rsa, "pkcs1"],
  ["RS256", "sha256", rsa, "pkcs8"],
  ["ES256", "sha256", elliptic("P-256"), "sec1"],
  ["ES256", "sha256", elliptic("P-256"), "pkcs8"],
  ["ES384", "sha384", elliptic("P-384"), "pkcs8"],
  ["ES512", "sha512", elliptic("P-521"), "sec1"]
] as const

describe("files of the cluster's authority", () => {
  for (const [algorithm, hash, key, type] of keys) {
    it.effect(`a key in ${type} signs ${algorithm}`, () =>
      Effect.gen(function* () {
        const pem = key.export({ type, format: "pem" } as never) as string
        // Parameters that OpenSSL writes before a key are ignored.
        const path = yield* file(`-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pem}`)
        const { signer } = yield* read({ key: path, rootCa: undefined })
        assert.strictEqual(signer?.algorithm, algorithm)
        const publicKey = createPublicKey(key)
        const signature = signer?.sign("head.claims") ?? new Uint8Array()
        const input = Buffer.from("head.claims")
        assert.isTrue(verify(hash, input, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature))
      }).pipe(Effect.scoped)
    )
  }

  it.effect("authorities are published unchanged, and without a file the known value stays", () =>
    Effect.gen(function* () {
      const [one, two] = yield* Effect.promise(() => Promise.all([authority("one"), authority("two")]))
      const bundle = `${one.cert}\n${two.cert}`
      const found = yield* read({ key: undefined, rootCa: yield* file(bundle) })
      assert.deepStrictEqual([found.rootCa, found.signer], [bundle, undefined])
    }).pipe(Effect.scoped)
  )

  const pkcs8 = rsa.export({ type: "pkcs8", format: "pem" })
  const mistakes: ReadonlyArray<readonly [string, "key" | "rootCa", string, string]> = [
    ["no key", "key", "nothing", "it has no private key in PEM"],
    [
      "a public key",
      "key",
      createPublicKey(rsa).export({ type: "spki", format: "pem" }),
      "it has no private key in PEM"
    ],
    ["a broken key", "key", pkcs8.replace(/\n.{20}/, "\n"), "its private key cannot be read"],
    [
      "an encrypted key",
      "key",
      rsa.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }),
      "its private key is encrypted: store it without a passphrase"
    ],
    [
      "a key of another kind",
      "key",
      generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }),
      "its key is neither RSA nor of the curves P-256, P-384 and P-521"
    ],
    ["no certificate", "rootCa", pkcs8, "it has no certificate in PEM"],
    [
      "a broken certificate",
      "rootCa",
      "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
      "its certificate 1 cannot be read"
    ]
  ]
  const flags = { key: "--service-account-private-key-file", rootCa: "--root-ca-file" }

  for (const [title, which, content, why] of mistakes) {
    it.effect(`${title} is refused in one sentence`, () =>
      Effect.gen(function* () {
        const path = yield* file(content)
        const { message } = yield* Effect.flip(read({ key: undefined, rootCa: undefined, [which]: path }))
        assert.strictEqual(message, `${flags[which]} cannot be used: ${path}: ${why}`)
      }).pipe(Effect.scoped)
    )
  }

  it.effect("a missing file and a directory are rejected in one sentence", () =>
    Effect.gen(function* () {
      const folder = yield* Process.folder
      yield* Effect.promise(() => mkdir(join(folder, "directory")))
      const of = (path: string) =>
        Effect.map(Effect.flip(read({ key: path, rootCa: undefined })), ({ message }) => message)
      assert.match(yield* of(join(folder, "none")), /none: there is no such file$/)
      assert.match(yield* of(join(folder, "directory")), /directory: it is a directory$/)
    }).pipe(Effect.scoped)
  )
})
