/** What a Secret gets: everything that it lacks, nothing that it has, and after it nothing more. */
import * as Base64 from "effect/encoding/Base64"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Secrets from "../../../src/controllers/tokens/secrets.ts"
import type { Secret, ServiceAccount } from "../../../src/kube/resources.ts"
import { law, prove } from "../../support/laws.ts"

type Module = typeof Secrets

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

prove<Module>({
  path: "controllers/tokens/secrets.ts",
  module: Secrets,
  laws: [
    law("a Secret that is filled has everything, for this account", facts, ({ filled }: Module, one) => {
      const made = filled(secretOf(one), account, given(one))
      const data = (made ?? secretOf(one)).data ?? {}
      if (data["namespace"] === undefined || data["token"] === undefined) return false
      if (one.rootCa && data["ca.crt"] !== encoded["right"]) return false
      return made === undefined || made.metadata.annotations?.["kubernetes.io/service-account.uid"] === "u1"
    }),
    law(
      "a token and a namespace that are there stay, and so does what others put there",
      facts,
      ({ filled }: Module, one) => {
        const before = secretOf(one)
        const made = filled(before, account, given(one)) ?? before
        return (
          (one.token === "" || made.data?.["token"] === before.data?.["token"]) &&
          (one.namespace === "" || made.data?.["namespace"] === before.data?.["namespace"]) &&
          made.data?.["more"] === before.data?.["more"] &&
          made.metadata.annotations?.["kept"] === "yes" &&
          made.metadata.resourceVersion === "7"
        )
      }
    ),
    law("without authorities those that are there stay", facts, ({ filled }: Module, one) => {
      const before = secretOf(one)
      const made = filled(before, account, given(one)) ?? before
      return one.rootCa || made.data?.["ca.crt"] === before.data?.["ca.crt"]
    }),
    law("a second look writes nothing", facts, ({ filled }: Module, one) => {
      const made = filled(secretOf(one), account, given(one))
      return made === undefined || filled(made, account, given(one)) === undefined
    }),
    law(
      "only Secrets of the type that name an account are anybody's",
      facts,
      ({ accountOf, byAccount }: Module, one) => {
        const secret = secretOf(one)
        const wanted = accountOf(secret)
        const isOne = one.type !== "Opaque" && one.name !== ""
        return (
          (wanted !== undefined) === isOne &&
          (wanted === undefined ||
            (wanted.name === one.name && wanted.uid === one.uid && wanted.namespace === "right")) &&
          byAccount.of(secret).join(",") === (isOne ? `right/${one.name}` : "")
        )
      }
    ),
    law(
      "an account is meant by its uid, or by its name alone where none is said",
      facts,
      ({ isMeant }: Module, { uid }) => isMeant({ namespace: "right", name: "robot", uid }, account) === (uid !== "u2")
    ),
    law("an account loses the one reference, and is not written without it", facts, ({ without }: Module, { uid }) => {
      const name = uid === "" ? "a" : uid
      const left = without(account, name)
        ?.secrets?.map((one) => one.name)
        .join(",")
      return left === (name === "a" ? "b" : undefined)
    })
  ],
  mutants: [
    { title: "a token is made anew", find: 'isEmpty(data["token"])', replace: "true" },
    { title: "a namespace is made anew", find: 'isEmpty(data["namespace"])', replace: "true" },
    { title: "others' authorities stay", find: 'data["ca.crt"] === ca ?', replace: 'data["ca.crt"] !== undefined ?' },
    { title: "the uid is not said", find: 'account.metadata.uid ?? ""', replace: '""' },
    { title: "data of others is lost", find: "{ ...data, ...missing }", replace: "missing" },
    { title: "annotations of others are lost", find: "    ...metadata.annotations,\n", replace: "" },
    {
      title: "every Secret that names an account is its token",
      find: 'own !== type || name === ""',
      replace: 'name === ""'
    },
    { title: "another account of the name is meant", find: 'uid === "" || uid === metadata.uid', replace: "true" },
    { title: "nobody is meant without a uid", find: 'uid === "" || uid', replace: "uid" },
    { title: "the others are taken out", find: "name !== secret", replace: "name === secret" },
    {
      title: "an account is written for nothing",
      find: "left.length === secrets.length",
      replace: "left.length > secrets.length"
    }
  ]
})
