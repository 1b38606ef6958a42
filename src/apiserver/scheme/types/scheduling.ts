/** Types of scheduling: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
PriorityClass apiVersion:s description:s globalDefault:b kind:s metadata&:meta.ObjectMeta preemptionPolicy*:s value&:i
`
