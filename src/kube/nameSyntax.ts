/**
 * Which texts the API accepts as names, as keys of labels and as their values, with its messages. Each check yields the errors, or none.
 * Source: apimachinery util/validation.
 */

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const dnsLabelSyntax = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const dns1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/

const subdomainWords =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const labelWords =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const serviceWords =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const qualifiedWords =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const valueWords =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

const tooLong = (limit: number): string => `must be no more than ${limit} characters`

const none: ReadonlyArray<string> = []

/** Most names are valid, and need no list. */
const errorsOf = (length: number, limit: number, isValid: boolean, words: string): ReadonlyArray<string> =>
  length <= limit && isValid ? none : [...(length > limit ? [tooLong(limit)] : []), ...(isValid ? [] : [words])]

/** The name of a prefix that is completed later may end with a hyphen. */
const completed = (name: string, isPrefix: boolean): string => (isPrefix ? `${name.replace(/[-.]$/, "")}a` : name)

export const dnsLabel = (name: string, isPrefix = false): ReadonlyArray<string> =>
  errorsOf(name.length, 63, dnsLabelSyntax.test(completed(name, isPrefix)), labelWords)

export const dns1035Label = (name: string, isPrefix = false): ReadonlyArray<string> =>
  errorsOf(name.length, 63, dns1035.test(completed(name, isPrefix)), serviceWords)

export const dnsSubdomain = (name: string, isPrefix = false): ReadonlyArray<string> =>
  errorsOf(name.length, 253, subdomain.test(completed(name, isPrefix)), subdomainWords)

/** Some keys that are valid: most objects have the same few. */
const known = new Set<string>()
const mostKnown = 1000

/** Keys of labels and annotations, and finalizers: `prefix/name` or `name`. */
export const qualified = (key: string): ReadonlyArray<string> => {
  if (known.has(key)) return none
  const errors = errorsOfKey(key)
  if (errors.length === 0 && known.size < mostKnown) known.add(key)
  return errors
}

const errorsOfKey = (key: string): ReadonlyArray<string> => {
  const parts = key.split("/")
  if (parts.length > 2) {
    return [
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
    ]
  }
  const name = parts.at(-1) ?? ""
  const prefix = parts.length === 2 ? (parts[0] ?? "") : undefined
  const errors: Array<string> = []
  if (prefix === "") errors.push("prefix part must be non-empty")
  else if (prefix !== undefined && (prefix.length > 253 || !subdomain.test(prefix))) {
    errors.push(`prefix part ${subdomainWords}`)
  }
  if (name === "") errors.push("name part must be non-empty")
  else if (name.length > 63) errors.push(`name part ${tooLong(63)}`)
  if (!qualifiedName.test(name)) errors.push(qualifiedWords)
  return errors
}

/** Values of labels. */
export const label = (value: string): ReadonlyArray<string> =>
  errorsOf(value.length, 63, labelValue.test(value), valueWords)
