/** Objects without `metadata.managedFields`: cut out of the text before it is parsed, or removed afterwards. */

/** A copy, because deleting a property would put the object into dictionary mode, on newer V8 even for the last property. */
export const withoutManagedFields = <M extends object>(metadata: M): M => {
  const { managedFields: _, ...rest } = metadata as { readonly managedFields?: unknown }
  return rest as M
}

const managedFieldsKey = '"managedFields":['

/**
 * `JSON.parse` of a watch event without its managedFields, a third of a typical object. The array is cut out of the text up to the first
 * closing bracket, and a number put in its place. If the rest is not JSON with that number at `object.metadata.managedFields`, the
 * whole text is parsed, so the result is the same as parsing everything and removing the field: a bracket inside a string or an inner
 * array leaves invalid JSON, and the key in another object leaves the number elsewhere. Throws like `JSON.parse`.
 */
export const parseTrimmed = (text: string): unknown => trimmed(text, objectOfEvent)

/** The same of an object that is not in an event. */
export const parseTrimmedObject = (text: string): unknown => trimmed(text, itself)

interface Trimmable {
  metadata?: { readonly managedFields?: unknown } | null
}

const objectOfEvent = (event: { readonly object?: Trimmable | null } | null) => event?.object

const itself = (object: Trimmable | null) => object

/** `objectOf`: the object in what was parsed. */
const trimmed = <P>(text: string, objectOf: (parsed: P | null) => Trimmable | null | undefined): unknown => {
  const start = text.indexOf(managedFieldsKey)
  const end = start === -1 ? -1 : text.indexOf("]", start + managedFieldsKey.length)
  const cut = end === -1 ? undefined : parsed<P>(`${text.slice(0, start)}"managedFields":0${text.slice(end + 1)}`)
  const metadata = cut === undefined ? undefined : objectOf(cut)?.metadata
  if (metadata?.managedFields === 0) return withoutThem(cut as P, objectOf)
  const whole = JSON.parse(text) as P | null
  return Array.isArray(objectOf(whole)?.metadata?.managedFields) ? withoutThem(whole, objectOf) : whole
}

const parsed = <P>(text: string): P | null | undefined => {
  try {
    return JSON.parse(text) as P
  } catch {
    return undefined
  }
}

const withoutThem = <P>(whole: P, objectOf: (parsed: P) => Trimmable | null | undefined): P => {
  const object = objectOf(whole)
  if (object?.metadata) object.metadata = withoutManagedFields(object.metadata)
  return whole
}
