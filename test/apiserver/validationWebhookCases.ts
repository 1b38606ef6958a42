/** Cases of webhook configurations. None of their rules matches the objects of other cases. */
import { type Case, plain } from "./validationCase.ts"
import type { Part } from "./validationCase.ts"

const group = "apis/admissionregistration.k8s.io/v1"

const rule = { apiGroups: ["none.example"], apiVersions: ["v1"], resources: ["nothings"], operations: ["CREATE"] }

const hook = (more: Part = {}): Part => ({
  name: "a.hooks.example",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  clientConfig: { url: "https://127.0.0.1:1/x" },
  rules: [rule],
  ...more
})

const of =
  (phase: "mutating" | "validating") =>
  (name: string, ...webhooks: ReadonlyArray<Part>): Case =>
    plain(`${phase} webhooks: ${name}`, `${group}/${phase}webhookconfigurations`, { webhooks }, undefined, {
      clusterScoped: true
    })

const validating = of("validating")
const mutating = of("mutating")

const inRule = (name: string, more: Part) => validating(name, hook({ rules: [{ ...rule, ...more }] }))
const service = (name: string, more: Part) =>
  validating(name, hook({ clientConfig: { service: { namespace: "ns", name: "hook", ...more } } }))
const url = (name: string, text: string) => validating(name, hook({ clientConfig: { url: text } }))

export const webhookCases: ReadonlyArray<Case> = [
  mutating("fine", hook({ reinvocationPolicy: "IfNeeded" })),
  mutating("strange reinvocation", hook({ reinvocationPolicy: "Often" })),
  validating("none"),
  validating("nothing said", { name: "a.hooks.example" }),
  validating("nameless", hook({ name: "" })),
  validating("short name", hook({ name: "a.b" })),
  validating("bad name", hook({ name: "A_b.c.d" })),
  validating("same name twice", hook(), hook()),
  validating("no versions", hook({ admissionReviewVersions: [] })),
  validating("unknown versions", hook({ admissionReviewVersions: ["v7", "v7", "V_8"] })),
  validating("known and unknown versions", hook({ admissionReviewVersions: ["v1", "v7"] })),
  validating("strange words", hook({ failurePolicy: "Perhaps", matchPolicy: "Mostly", sideEffects: "Some" })),
  validating("no side effects", hook({ sideEffects: undefined })),
  validating("unknown side effects", hook({ sideEffects: "Unknown" })),
  validating("no time", hook({ timeoutSeconds: 0 })),
  validating("much time", hook({ timeoutSeconds: 31 })),
  validating(
    "bad selectors",
    hook({
      namespaceSelector: { matchExpressions: [{ key: "a", operator: "Near" }] },
      objectSelector: { matchLabels: { "a b": "c" } }
    })
  ),
  validating("no rules", hook({ rules: [] })),
  validating("an empty rule", hook({ rules: [{}] })),
  inRule("strange operation", { operations: ["CREATE", "READ"] }),
  inRule("every operation and one", { operations: ["*", "CREATE"] }),
  inRule("every group and one", { apiGroups: ["*", "a"] }),
  inRule("empty version", { apiVersions: [""] }),
  inRule("every version and one", { apiVersions: ["*", "v1"] }),
  inRule("empty resource", { resources: [""] }),
  inRule("every resource and one", { resources: ["*", "nothings"] }),
  inRule("every resource and subresource and one", { resources: ["*/*", "nothings"] }),
  inRule("every subresource and one", { resources: ["nothings/*", "nothings/status"] }),
  inRule("a subresource of all and of one", { resources: ["*/status", "nothings/status"] }),
  inRule("strange scope", { scope: "Universe" }),
  validating("nobody to call", hook({ clientConfig: {} })),
  validating("two to call", hook({ clientConfig: { url: "https://a.b", service: { namespace: "ns", name: "hook" } } })),
  url("http", "http://a.b/c"),
  url("no url", "a b%"),
  url("no host", "https:///x"),
  url("everything else", "https://me:secret@a.b/c?d=e#f"),
  service("nameless service", { name: "", namespace: "" }),
  service("bad port", { port: 70000 }),
  service("bad path", { path: "x" }),
  service("bad segment", { path: "/A_/b//c" }),
  service("slash", { path: "/" }),
  service("fine service", { path: "/a/b/", port: 8443 })
]
