/** Where the Deployments of a history live. */
export const namespace = "default"
