/** Where the Deployments of a sequence live. */
export const namespace = "default"
