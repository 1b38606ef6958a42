/**
 * The metrics of kube-controller-manager 1.36, and the names of its queues: facts from the `metrics.go` files of pkg/controller, k8s.io/endpointslice,
 * k8s.io/cloud-provider, pkg/volume/util and k8s.io/component-base, from client_golang's process collector, and from the arguments of
 * `NewTyped…Queue…WithConfig` in the controllers. Tests compare the metrics of the command `kube-controller-manager` with these: a difference needs a reason here.
 */

export interface Row {
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly stability: "ALPHA" | "BETA" | "STABLE" | ""
  /** In alphabetical order. */
  readonly labels: ReadonlyArray<string>
  readonly bounds: ReadonlyArray<number>
  /** The reason why this program does not expose it; undefined: it does. */
  readonly absent: string | undefined
}

/** The reasons why whole groups of metrics or queues are absent. */
const reasons = {
  cloud: "clouds are asked by a program of theirs",
  devices: "the controllers of devices are not here",
  exec: "credential plugins are run by the Kubernetes client library of Node, which does not tell of it",
  fifo: "there is no queue between a watch and the cache: a batch of events is applied where it arrives",
  ipam: "the controller that gives pods their addresses is not here",
  registry: "it describes component-base's registry of metrics, which is not here",
  transport: "it describes client-go's cache of transports; here is one pool of connections for each cluster",
  volumes: "the controllers of volumes are not here"
}

/** Bounds: `first xfactor count`, all of them, or the defaults of client_golang. */
const table = `
attach_detach_controller_attachdetach_controller_forced_detaches | counter | ALPHA | reason | | volumes
attachdetach_controller_total_volumes | gauge | ALPHA | plugin_name state | | volumes
clustertrustbundle_publisher_sync_duration_seconds | histogram | ALPHA | code | 0.001 x2 15 | the publisher of the API server's trust bundle is not here
clustertrustbundle_publisher_sync_total | counter | ALPHA | code | | the publisher of the API server's trust bundle is not here
cronjob_controller_job_creation_skew_duration_seconds | histogram | STABLE | | 1 x2 10
csi_operations_seconds | histogram | ALPHA | driver_name grpc_status_code method_name migrated | 0.1 0.25 0.5 1 2.5 5 10 15 25 50 120 300 600 | volumes
daemonset_controller_stale_sync_skips_total | counter | ALPHA | group resource
device_taint_eviction_controller_pod_deletion_duration_seconds | histogram | ALPHA | | 0.005 0.025 0.1 0.5 1 2.5 10 30 60 120 180 240 | devices
device_taint_eviction_controller_pod_deletions_total | counter | ALPHA | | | devices
disabled_metrics_total | counter | BETA | | | registry
endpoint_slice_controller_changes | counter | ALPHA | operation
endpoint_slice_controller_desired_endpoint_slices | gauge | BETA
endpoint_slice_controller_endpoints_added_per_sync | histogram | BETA | | 2 x2 15
endpoint_slice_controller_endpoints_desired | gauge | BETA
endpoint_slice_controller_endpoints_removed_per_sync | histogram | BETA | | 2 x2 15
endpoint_slice_controller_endpointslices_changed_per_sync | histogram | ALPHA | topology traffic_distribution | default
endpoint_slice_controller_num_endpoint_slices | gauge | BETA
endpoint_slice_controller_services_count_by_traffic_distribution | gauge | BETA | traffic_distribution
endpoint_slice_controller_syncs | counter | ALPHA | result
endpoint_slice_mirroring_controller_addresses_skipped_per_sync | histogram | ALPHA | | 2 x2 15
endpoint_slice_mirroring_controller_changes | counter | ALPHA | operation
endpoint_slice_mirroring_controller_desired_endpoint_slices | gauge | ALPHA
endpoint_slice_mirroring_controller_endpoints_added_per_sync | histogram | ALPHA | | 2 x2 15
endpoint_slice_mirroring_controller_endpoints_desired | gauge | ALPHA
endpoint_slice_mirroring_controller_endpoints_removed_per_sync | histogram | ALPHA | | 2 x2 15
endpoint_slice_mirroring_controller_endpoints_sync_duration | histogram | ALPHA | | 0.001 x2 15
endpoint_slice_mirroring_controller_endpoints_updated_per_sync | histogram | ALPHA | | 2 x2 15
endpoint_slice_mirroring_controller_num_endpoint_slices | gauge | ALPHA
ephemeral_volume_controller_create_failures_total | counter | ALPHA | | | volumes
ephemeral_volume_controller_create_total | counter | ALPHA | | | volumes
garbagecollector_controller_resources_sync_error_total | counter | ALPHA
hidden_metrics_total | counter | BETA | | | registry
horizontal_pod_autoscaler_controller_desired_replicas | gauge | ALPHA | hpa_name namespace
horizontal_pod_autoscaler_controller_metric_computation_duration_seconds | histogram | BETA | action error metric_type | 0.001 x2 15
horizontal_pod_autoscaler_controller_metric_computation_total | counter | BETA | action error metric_type
horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers | gauge | ALPHA
horizontal_pod_autoscaler_controller_reconciliation_duration_seconds | histogram | BETA | action error | 0.001 x2 15
horizontal_pod_autoscaler_controller_reconciliations_total | counter | BETA | action error
informer_processing_latency_seconds | histogram | ALPHA | group name resource version | 0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 | fifo
informer_queued_items | gauge | ALPHA | group name resource version | | fifo
informer_store_resource_version | gauge | ALPHA | group name resource version
job_controller_job_finished_indexes_total | counter | ALPHA | backoffLimit status
job_controller_job_pods_creation_total | counter | ALPHA | reason status
job_controller_job_pods_finished_total | counter | STABLE | completion_mode result
job_controller_job_sync_duration_seconds | histogram | STABLE | action completion_mode result | 0.004 x2 15
job_controller_job_syncs_total | counter | STABLE | action completion_mode result
job_controller_jobs_by_external_controller_total | counter | ALPHA | controller_name
job_controller_jobs_finished_total | counter | STABLE | completion_mode reason result
job_controller_pod_failures_handled_by_failure_policy_total | counter | BETA | action
job_controller_stale_sync_skips_total | counter | ALPHA | group resource
job_controller_terminated_pods_tracking_finalizer_total | counter | BETA | event
kubernetes_build_info | gauge | BETA | build_date compiler git_commit git_tree_state git_version go_version major minor platform
kubernetes_feature_enabled | gauge | BETA | name stage
leader_election_master_status | gauge | ALPHA | name
leader_election_slowpath_total | counter | ALPHA | name
node_collector_evictions_total | counter | STABLE | zone
node_collector_unhealthy_nodes_in_zone | gauge | ALPHA | zone
node_collector_update_all_nodes_health_duration_seconds | histogram | ALPHA | | 0.01 x4 8
node_collector_update_node_health_duration_seconds | histogram | ALPHA | | 0.001 x4 8
node_collector_zone_health | gauge | ALPHA | zone
node_collector_zone_size | gauge | ALPHA | zone
node_ipam_controller_cidrset_allocation_tries_per_request | histogram | ALPHA | clusterCIDR | 1 x5 5 | ipam
node_ipam_controller_cidrset_cidrs_allocations_total | counter | ALPHA | clusterCIDR | | ipam
node_ipam_controller_cidrset_cidrs_releases_total | counter | ALPHA | clusterCIDR | | ipam
node_ipam_controller_cidrset_usage_cidrs | gauge | ALPHA | clusterCIDR | | ipam
node_ipam_controller_cirdset_max_cidrs | gauge | ALPHA | clusterCIDR | | ipam
pod_gc_collector_force_delete_pod_errors_total | counter | ALPHA | namespace reason
pod_gc_collector_force_delete_pods_total | counter | ALPHA | namespace reason
process_cpu_seconds_total | counter
process_max_fds | gauge
process_network_receive_bytes_total | counter
process_network_transmit_bytes_total | counter
process_open_fds | gauge
process_resident_memory_bytes | gauge
process_start_time_seconds | gauge | STABLE
process_virtual_memory_bytes | gauge
process_virtual_memory_max_bytes | gauge
pv_collector_bound_pv_count | gauge | ALPHA | storage_class | | volumes
pv_collector_bound_pvc_count | gauge | ALPHA | namespace storage_class volume_attributes_class | | volumes
pv_collector_total_pv_count | gauge | ALPHA | plugin_name volume_mode | | volumes
pv_collector_unbound_pv_count | gauge | ALPHA | storage_class | | volumes
pv_collector_unbound_pvc_count | gauge | ALPHA | namespace storage_class volume_attributes_class | | volumes
registered_metrics_total | counter | BETA | deprecated_version stability_level | | registry
replicaset_controller_sorting_deletion_age_ratio | histogram | ALPHA | | 0.25 x2 6
replicaset_controller_stale_sync_skips_total | counter | ALPHA | group resource
resourceclaim_controller_creates_total | counter | ALPHA | admin_access status | | devices
resourceclaim_controller_resource_claims | gauge | ALPHA | allocated admin_access source | | devices
resourcepoolstatusrequest_controller_request_processing_duration_seconds | histogram | ALPHA | driver_name | 0.001 x2 15 | devices
resourcepoolstatusrequest_controller_request_processing_errors_total | counter | ALPHA | driver_name | | devices
resourcepoolstatusrequest_controller_requests_processed_total | counter | ALPHA | driver_name | | devices
rest_client_dns_resolution_duration_seconds | histogram | ALPHA | host | 0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30
rest_client_exec_plugin_call_total | counter | ALPHA | call_status code | | exec
rest_client_exec_plugin_certificate_rotation_age | histogram | ALPHA | | 600 1800 3600 14400 86400 604800 2592000 7776000 15552000 31104000 124416000 | exec
rest_client_exec_plugin_policy_call_total | counter | ALPHA | allowed denied | | exec
rest_client_exec_plugin_ttl_seconds | gauge | ALPHA | | | exec
rest_client_rate_limiter_duration_seconds | histogram | ALPHA | host verb | 0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60
rest_client_request_duration_seconds | histogram | ALPHA | host verb | 0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60
rest_client_request_retries_total | counter | ALPHA | code host verb
rest_client_request_size_bytes | histogram | ALPHA | host verb | 64 256 512 1024 4096 16384 65536 262144 1048576 4194304 16777216
rest_client_requests_total | counter | ALPHA | code host method
rest_client_response_size_bytes | histogram | ALPHA | host verb | 64 256 512 1024 4096 16384 65536 262144 1048576 4194304 16777216
rest_client_transport_ca_reload_total | counter | ALPHA | reason result | | transport
rest_client_transport_cache_entries | gauge | ALPHA | | | transport
rest_client_transport_cache_gc_calls_total | counter | ALPHA | result | | transport
rest_client_transport_cert_rotation_gc_calls_total | counter | ALPHA | | | transport
rest_client_transport_create_calls_total | counter | ALPHA | result | | transport
retroactive_storageclass_errors_total | counter | ALPHA | | | volumes
retroactive_storageclass_total | counter | ALPHA | | | volumes
root_ca_cert_publisher_sync_duration_seconds | histogram | ALPHA | code | 0.001 x2 15
root_ca_cert_publisher_sync_total | counter | ALPHA | code
route_controller_route_sync_total | counter | ALPHA | | | cloud
running_managed_controllers | gauge | BETA | manager name | | of its controllers only those of pod addresses, routes and load balancers set it, which are not here
selinux_warning_controller_selinux_volume_conflict | gauge | ALPHA | pod1_name pod1_namespace pod1_value pod2_name pod2_namespace pod2_value property | | volumes
service_controller_loadbalancer_sync_total | counter | ALPHA | | | cloud
service_controller_nodesync_error_total | counter | ALPHA | | | cloud
service_controller_nodesync_latency_seconds | histogram | ALPHA | | 1 x2 15 | cloud
service_controller_update_loadbalancer_host_latency_seconds | histogram | ALPHA | | 1 x2 15 | cloud
statefulset_controller_stale_sync_skips_total | counter | ALPHA | group resource
statefulset_controller_statefulset_max_unavailable | gauge | ALPHA | pod_management_policy statefulset_name statefulset_namespace
statefulset_controller_statefulset_unavailable_replicas | gauge | ALPHA | pod_management_policy statefulset_name statefulset_namespace
storage_count_attachable_volumes_in_use | gauge | ALPHA | node volume_plugin | | volumes
storage_operation_duration_seconds | histogram | ALPHA | migrated operation_name status volume_plugin | 0.1 0.25 0.5 1 2.5 5 10 15 25 50 120 300 600 | volumes
taint_eviction_controller_pod_deletion_duration_seconds | histogram | ALPHA | | 0.005 0.025 0.1 0.5 1 2.5 10 30 60 120 180 240
taint_eviction_controller_pod_deletions_total | counter | ALPHA
ttl_after_finished_controller_job_deletion_duration_seconds | histogram | ALPHA | | 0.1 x2 14
version_info | gauge | ALPHA | binary component emulation min_compat
volume_operation_errors_total | counter | ALPHA | operation_name plugin_name | | volumes
volume_operation_total_errors | counter | ALPHA | operation_name plugin_name | | volumes
volume_operation_total_seconds | histogram | ALPHA | operation_name plugin_name | 0.1 0.25 0.5 1 2.5 5 10 15 25 50 120 300 600 | volumes
workqueue_adds_total | counter | BETA | name
workqueue_depth | gauge | BETA | name
workqueue_longest_running_processor_seconds | gauge | BETA | name
workqueue_queue_duration_seconds | histogram | BETA | name | 1e-8 x10 10
workqueue_retries_total | counter | BETA | name
workqueue_unfinished_work_seconds | gauge | BETA | name
workqueue_work_duration_seconds | histogram | BETA | name | 1e-8 x10 10`

/** At `/metrics/slis`. */
const slis = `
kubernetes_healthcheck | gauge | STABLE | name type
kubernetes_healthchecks_total | counter | STABLE | name status type
process_start_time_seconds | gauge | STABLE`

/** Metrics of its HTTP server, its runtime and its libraries, by the prefix of their names, and the reason why these are absent. */
export const linked: Readonly<Record<string, string>> = {
  aggregator_: "the library of API servers is not here",
  apiserver_:
    "the library of API servers is not here; its reviews of tokens and access are requests like others, and counted so",
  authenticated_user_requests: "the library of API servers is not here",
  authentication_: "the library of API servers is not here",
  authorization_: "the library of API servers is not here",
  cardinality_enforcement_: "labels are not cut off by a list of allowed values",
  go_: "the runtime is Node's: nodejs_heap_size_used_bytes, nodejs_gc_duration_seconds and nodejs_eventloop_lag_seconds tell of it"
}

/** Metrics that only this program's command exposes, by the prefix of their names. */
export const besides: ReadonlyArray<string> = [
  "cache_read_wait_seconds",
  "certwatcher_",
  "cloud_node_lifecycle_nodes_deleted_total",
  "cluster_role_aggregation_writes_total",
  "controller_runtime_",
  "daemonset_controller_pods_total",
  "disruption_controller_stale_disruptions_total",
  "disruption_controller_status_writes_total",
  "endpoint_controller_changes_total",
  "informer_failures_total",
  "informer_last_event_age_seconds",
  "informer_objects",
  "informer_relists_total",
  "informer_synced",
  "leader_fenced_writes_total",
  "legacy_service_account_token_cleaner_tokens_total",
  "nodejs_",
  "pvc_protection_controller_finalizer_writes_total",
  "resourcequota_controller_status_updates_total",
  "serviceaccount_token_controller_actions_total",
  "statefulset_controller_pods_total",
  "statefulset_controller_waits_total",
  "workqueue_oldest_ready_seconds"
]

export interface Queue {
  readonly name: string
  /** The reasons for those that are absent. */
  readonly absent: string | undefined
}

const queueTable = `
ClusterRoleAggregator
DynamicCABundle-client-ca-bundle | the program has no certificates of clients to follow
DynamicCABundle-request-header | the program has no certificates of clients to follow
DynamicConfigMapCABundle-client-ca | the program has no certificates of clients to follow
DynamicServingCertificateController | certificates are followed by a timer and a watch of their directory
DynamicCABundle-serving-cert | certificates are followed by a timer and a watch of their directory
RequestHeaderAuthRequestController | the program has no certificates of clients to follow
bootstrap_signer_queue | the controllers of bootstrap tokens are not here
ca_cert_publisher_cluster_trust_bundles | the publisher of the API server's trust bundle is not here
certificate | the controllers that sign certificates are not here
cidrallocator_node | ipam
claims | volumes
cronjob
daemonset
daemonset-node-updates | a change of a node puts the DaemonSets that it concerns into daemonset
deployment
device-taint-eviction-controller | devices
disruption
disruption_recheck | a budget that is due for another look waits in disruption
endpoint
endpoint_slice
endpoint_slice_mirroring
ephemeral_volume | volumes
garbage_collector_attempt_to_delete
garbage_collector_attempt_to_orphan
garbage_collector_graph_changes | changes are applied to the graph where they arrive
horizontalpodautoscaler
ipaddresses | the controller of service networks is not here
job
job_orphan_pod | pods that are held for no Job wait in job
namespace
node_lifecycle_controller
node_lifecycle_controller_pods | pods of nodes that are not ready wait in node_lifecycle_controller
noexec_taint_node | a change of a node's taints puts its pods into noexec_taint_pod
noexec_taint_pod
orphaned_pods_nodes | nodes that may be gone are kept in a list that each look at the pods goes through
podgroupprotection | the controller of groups of pods is not here
pvcprotection
pvcs | volumes
pvprotection | volumes
replicaset
replicationmanager
resource-version-controller | the controllers of stored versions are not here
resource_claim | devices
resource_quota_controller_resource_changes | changes are counted where they arrive
resourcequota_primary
resourcequota_priority | quotas that nothing can be created under yet come first in resourcequota_primary
root_ca_cert_publisher
Routes | cloud
selinux_warning | volumes
service | cloud
node | cloud
serviceaccount
serviceaccount_tokens_service
stale_pod_disruption | pods whose disruption did not come about wait in disruption
statefulset
storage-version-migrator-controller | the controllers of stored versions are not here
storage_version_garbage_collector_leases | the controllers of stored versions are not here
storage_version_garbage_collector_storageversions | the controllers of stored versions are not here
token_cleaner | the controllers of bootstrap tokens are not here
ttl_jobs_to_delete
ttlcontroller | the controller of the annotation node.alpha.kubernetes.io/ttl is not here
vacprotection | volumes
validatingadmissionpolicy-status | the API server's policies are checked by another program
volume_expand | volumes
volumes | volumes`

const cellsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))

const words = (text: string): ReadonlyArray<string> => text.split(" ").filter((word) => word !== "")

const reasonOf = (text: string | undefined): string | undefined =>
  text === undefined || text === "" ? undefined : (Object.entries(reasons).find(([key]) => key === text)?.[1] ?? text)

/** Computed by multiplication, as in client_golang. */
const boundsOf = (text: string): ReadonlyArray<number> => {
  if (text === "default") return [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  const [, first, factor, count] = /^(\S+) x(\d+) (\d+)$/.exec(text) ?? []
  if (count === undefined) return words(text).map(Number)
  const bounds = [Number(first)]
  while (bounds.length < Number(count)) bounds.push((bounds.at(-1) ?? 0) * Number(factor))
  return bounds
}

const rowsOf = (text: string): ReadonlyArray<Row> =>
  cellsOf(text).map(([name = "", type = "", stability = "", labels = "", bounds = "", absent]) => ({
    name,
    type: type as Row["type"],
    stability: stability as Row["stability"],
    labels: words(labels),
    bounds: boundsOf(bounds),
    absent: reasonOf(absent)
  }))

export const metrics = rowsOf(table)

export const healthMetrics = rowsOf(slis)

export const queues: ReadonlyArray<Queue> = cellsOf(queueTable).map(([name = "", absent]) => ({
  name,
  absent: reasonOf(absent)
}))
