/** The kinds that kube-apiserver 1.36 serves in stable versions: a committed list of facts. */
import { readFileSync } from "node:fs"

export interface Fact {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly scope: string
  /** `all`, or the verbs. */
  readonly verbs: string
  readonly shortNames: string
  readonly categories: string
  readonly subresources: string
}

const lines = readFileSync(new URL("../kube/resources/kubernetes-1.36.txt", import.meta.url), "utf8").split("\n")

export const facts: ReadonlyArray<Fact> = lines
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [apiVersion = "", kind = "", plural = "", scope = "", verbs = "", ...rest] = line.split(" ")
    const [shortNames = "", categories = "", subresources = ""] = rest.map((one) => (one === "-" ? "" : one))
    return { apiVersion, kind, plural, scope, verbs, shortNames, categories, subresources }
  })
