/**
 * Whether two templates are one although the older says less: what it leaves out is what a server fills in by itself. A revision that was
 * written before a server learnt a default is then still that of the template that has it. Defaults that depend on other fields are not
 * told from choices. Source: spec G.8.2, core/v1 defaults.
 */
import * as Equality from "../../kube/equality.ts"

/** What a field is where nothing is said, by its name: in a template each of them means the same wherever it is. */
const byName: Readonly<Record<string, unknown>> = {
  apiVersion: "v1",
  defaultMode: 420,
  dnsPolicy: "ClusterFirst",
  emptyDir: {},
  expirationSeconds: 3600,
  failureThreshold: 3,
  path: "/",
  periodSeconds: 10,
  protocol: "TCP",
  restartPolicy: "Always",
  schedulerName: "default-scheduler",
  scheme: "HTTP",
  securityContext: {},
  service: "",
  successThreshold: 1,
  terminationGracePeriodSeconds: 30,
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
  timeoutSeconds: 1,
  type: "",
  volumeMode: "Filesystem"
}

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Maps from text to text: no key in them is a field. */
const maps = new Set(["labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests"])

/** Whether the whole is what the part becomes when a server fills it in. */
export const completes = (part: unknown, whole: unknown): boolean => filled("", part, whole)

const filled = (field: string, part: unknown, whole: unknown): boolean => {
  if (part === undefined || part === null) return isDefault(field, whole)
  if (isObject(part) && isObject(whole) && !maps.has(field)) {
    const keys = new Set([...Object.keys(part), ...Object.keys(whole)])
    return [...keys].every((key) => filled(key, part[key], whole[key]))
  }
  if (Array.isArray(part) && Array.isArray(whole)) {
    return part.length === whole.length && part.every((item, i) => filled("", item, whole[i]))
  }
  return same(field, part, whole)
}

const isDefault = (field: string, value: unknown): boolean =>
  same(field, undefined, value) || (Object.hasOwn(byName, field) && same(field, byName[field], value))

/** How values are compared depends on what they are the values of. */
const same = (field: string, a: unknown, b: unknown): boolean => Equality.equal({ [field]: a }, { [field]: b })
