/** Syntax of names, labels and annotations, with upstream's messages. Source: apimachinery, util/validation. */
import * as Syntax from "../../kube/nameSyntax.ts"
import type { ResourceDefinition } from "../scheme/ResourceDefinition.ts"

/** Errors of a name of this kind. A generateName prefix may end with a hyphen. */
export const objectName = (
  resource: Pick<ResourceDefinition, "nameRule">,
  name: string,
  prefix = false
): ReadonlyArray<string> => {
  switch (resource.nameRule) {
    case "path":
      if (name === "." || name === "..") return [`may not be '${name}'`]
      return ["/", "%"].filter((bad) => name.includes(bad)).map((bad) => `may not contain '${bad}'`)
    case "label":
      return Syntax.dnsLabel(name, prefix)
    case "service":
      return Syntax.dns1035Label(name, prefix)
    case "subdomain":
      return Syntax.dnsSubdomain(name, prefix)
  }
}

export { label, qualified } from "../../kube/nameSyntax.ts"
