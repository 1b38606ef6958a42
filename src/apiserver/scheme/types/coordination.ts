/** Types of coordination: written by scripts/schema-table.mjs, read by ../types.ts, which explains the notation. */
export const types = `
Lease apiVersion:s kind:s metadata&:meta.ObjectMeta spec&:LeaseSpec
LeaseSpec acquireTime*:u holderIdentity*:s leaseDurationSeconds*:i leaseTransitions*:i preferredHolder*:s renewTime*:u strategy*:s
`
