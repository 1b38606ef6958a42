/** The controllers with pods under systematic perturbation. */
import { workloads } from "./own/all.ts"
import { check } from "./own/check.ts"

check(workloads)
