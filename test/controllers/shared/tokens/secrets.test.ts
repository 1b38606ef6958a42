import { describe } from "@effect/vitest"
/** A token Secret gets all missing fields, keeps its others, and needs no second write. */
import * as Base64 from "effect/encoding/Base64"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Secrets from "../../../../src/controllers/shared/tokens/secrets.ts"
import type { Secret, ServiceAccount } from "../../../../src/kube/resources.ts"
import { checkProperty } from "../../../support/property.ts"
const Text = Schema.Literals(["", "right", "others"])

const Facts = Schema.Struct({
  type: Schema.Literals(["kubernetes.io/service-account-token", "Opaque"]),
  name: Schema.Literals(["", "robot", "other"]),
  uid: Schema.Literals(["", "u1", "u2"]),
  ca: Text,
  namespace: Text,
  token: Text,
  more: Schema.Boolean,
  rootCa: Schema.Boolean
})

type Facts = typeof Facts.Type

const encoded: Readonly<Record<string, string>> = { right: Base64.encode("right"), others: Base64.encode("others") }

const secretOf = ({ ca, more, name, namespace, token, type, uid }: Facts): Secret => ({
  type,
  metadata: {
    name: "a",
    namespace: "right",
    resourceVersion: "7",
    annotations: {
      ...(name === "" ? {} : { "kubernetes.io/service-account.name": name }),
      ...(uid === "" ? {} : { "kubernetes.io/service-account.uid": uid }),
      kept: "yes"
    }
  },
  data: {
    ...(ca === "" ? {} : { "ca.crt": encoded[ca] ?? "" }),
    ...(namespace === "" ? {} : { namespace: encoded[namespace] ?? "" }),
    ...(token === "" ? {} : { token: encoded[token] ?? "" }),
    ...(more ? { more: "eA==" } : {})
  }
})

const account: ServiceAccount = {
  metadata: { name: "robot", namespace: "right", uid: "u1" },
  secrets: [{ name: "a" }, { name: "b" }]
}

const given = ({ rootCa }: Facts) => ({ rootCa: rootCa ? "right" : undefined, token: () => "right" })

const facts = Arbitrary.schema(Facts)

describe("Secrets", () => {
  checkProperty("a filled Secret has all fields for the account", facts, (one) => {
    const made = Secrets.filled(secretOf(one), account, given(one))
    const data = (made ?? secretOf(one)).data ?? {}
    if (data["namespace"] === undefined || data["token"] === undefined) return false
    if (one.rootCa && data["ca.crt"] !== encoded["right"]) return false
    return made === undefined || made.metadata.annotations?.["kubernetes.io/service-account.uid"] === "u1"
  })

  checkProperty("an existing token and namespace stay, and so do other fields", facts, (one) => {
    const before = secretOf(one)
    const made = Secrets.filled(before, account, given(one)) ?? before
    return (
      (one.token === "" || made.data?.["token"] === before.data?.["token"]) &&
      (one.namespace === "" || made.data?.["namespace"] === before.data?.["namespace"]) &&
      made.data?.["more"] === before.data?.["more"] &&
      made.metadata.annotations?.["kept"] === "yes" &&
      made.metadata.resourceVersion === "7"
    )
  })

  checkProperty("without a CA bundle an existing one stays", facts, (one) => {
    const before = secretOf(one)
    const made = Secrets.filled(before, account, given(one)) ?? before
    return one.rootCa || made.data?.["ca.crt"] === before.data?.["ca.crt"]
  })

  checkProperty("a second sync writes nothing", facts, (one) => {
    const made = Secrets.filled(secretOf(one), account, given(one))
    return made === undefined || Secrets.filled(made, account, given(one)) === undefined
  })

  checkProperty("only Secrets of the type that name an account belong to one", facts, (one) => {
    const secret = secretOf(one)
    const wanted = Secrets.accountOf(secret)
    const isOne = one.type !== "Opaque" && one.name !== ""
    return (
      (wanted !== undefined) === isOne &&
      (wanted === undefined || (wanted.name === one.name && wanted.uid === one.uid && wanted.namespace === "right")) &&
      Secrets.byAccount.of(secret).join(",") === (isOne ? `right/${one.name}` : "")
    )
  })

  checkProperty(
    "an account matches by uid, or by name where the Secret has no uid",
    facts,
    ({ uid }) => Secrets.isMeant({ namespace: "right", name: "robot", uid }, account) === (uid !== "u2")
  )

  checkProperty("an account loses exactly the one reference, and is not written without it", facts, ({ uid }) => {
    const name = uid === "" ? "a" : uid
    const left = Secrets.without(account, name)
      ?.secrets?.map((one) => one.name)
      .join(",")
    return left === (name === "a" ? "b" : undefined)
  })
})
