/** A kind with two versions, whose field has a different name in each, and its conversion webhook. v2 is stored. */
export type Version = "v1" | "v2"

const group = "g.example"

export const collection = (version: Version): string => `/apis/${group}/${version}/namespaces/default/widgets`

const memberOf = (version: Version) => (version === "v1" ? "size" : "replicas")

export const widget = (version: Version, name: string, size: number, metadata: object = {}) => ({
  apiVersion: `${group}/${version}`,
  kind: "Widget",
  metadata: { name, ...metadata },
  spec: { [memberOf(version)]: size }
})

const versionOf = (version: Version, storage: boolean) => ({
  name: version,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { [memberOf(version)]: { type: "integer" } } } }
    }
  }
})

export const definition = (url: string, stored: Version = "v2") => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { kind: "Widget", plural: "widgets" },
    versions: (["v1", "v2"] as const).map((one) => versionOf(one, one === stored)),
    conversion: { strategy: "Webhook", webhook: { clientConfig: { url }, conversionReviewVersions: ["v1"] } }
  }
})

/** The response to a request, without its uid. */
export const convert = ({ desiredAPIVersion, objects }: any): object => ({
  result: { status: "Success" },
  convertedObjects: objects.map(({ spec, ...object }: any) => ({
    ...object,
    apiVersion: desiredAPIVersion,
    spec: { [memberOf(desiredAPIVersion.split("/")[1])]: spec.size ?? spec.replicas }
  }))
})
