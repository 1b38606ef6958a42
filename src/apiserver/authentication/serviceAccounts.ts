/** Service accounts as users: their names and groups. Source: apiserver/pkg/authentication/serviceaccount. */

export interface Account {
  readonly namespace: string
  readonly name: string
}

const prefix = "system:serviceaccount:"

export const userOf = ({ name, namespace }: Account): string => `${prefix}${namespace}:${name}`

/** The account of a user name; undefined for other users. */
export const parse = (user: string): Account | undefined => {
  if (!user.startsWith(prefix)) return undefined
  const [namespace = "", name = "", ...more] = user.slice(prefix.length).split(":")
  return namespace === "" || name === "" || more.length > 0 ? undefined : { namespace, name }
}

export const groupsOf = (namespace: string): ReadonlyArray<string> => [
  "system:serviceaccounts",
  `system:serviceaccounts:${namespace}`,
  "system:authenticated"
]
