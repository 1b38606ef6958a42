/**
 * The built-in kinds, each a descriptor and a type of the same name: all that Kubernetes 1.36 serves in a stable version, in the newest one of
 * its group. Types are the model classes of `@kubernetes/client-node` in their wire form; the import is type-only, so nothing of that package
 * is loaded. A bundler leaves out the descriptors that a program does not use: each is marked as free of side effects.
 */
export * from "./resources/core.ts"
export * from "./resources/workloads.ts"
export * from "./resources/networking.ts"
export * from "./resources/authorization.ts"
export * from "./resources/storage.ts"
export * from "./resources/scheduling.ts"
export * from "./resources/extension.ts"
