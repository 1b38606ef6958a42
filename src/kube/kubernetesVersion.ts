/** The release of Kubernetes whose rules the API server, the nodes and the controllers follow. */

/** Its major and minor number, as `/version` has them. */
export const major = "1"

/** See {@link major}. */
export const minor = "36"

/** `v1.36.0`. */
export const gitVersion = `v${major}.${minor}.0`
