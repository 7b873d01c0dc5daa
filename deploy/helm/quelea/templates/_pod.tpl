{{/* The one pod template: (dict root name service). */}}
{{- define "quelea.pod" -}}
{{- $root := .root }}{{ $name := .name }}{{ $s := .service -}}
metadata:
  labels:
    {{- include "quelea.selectorLabels" (list $root $name) | nindent 4 }}
    {{- with $root.Values.commonLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    {{- with include "quelea.configHash" . }}
    quelea/config: {{ . }}
    {{- end }}
    {{- if and (eq $name "gateway") $root.Values.signIn.enabled }}
    # Read when it starts, so a change of it starts anew.
    quelea/sign-in: {{ include "quelea.signIn.toml" $root | sha256sum | trunc 32 }}
    {{- end }}
    kubectl.kubernetes.io/default-container: {{ $name }}
    {{- with $s.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "quelea.name" (list $root $name) }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add (int $s.preStopSeconds) (int $s.drainSeconds) 15 }}
  {{- with $s.priorityClassName | default $root.Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $s.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- include "quelea.pullSecrets" $root | nindent 2 }}
  securityContext:
    {{- if not $s.dockerInDocker }}
    runAsNonRoot: true
    {{- end }}
    runAsUser: {{ int $s.runAsUser }}
    runAsGroup: {{ int $s.runAsUser }}
    fsGroup: {{ int $s.fsGroup }}
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: {{ $s.spreadOver }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "quelea.selectorLabels" (list $root $name) | nindent 10 }}
  {{- with $s.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $s.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- if or $s.init $s.dockerInDocker }}
  initContainers:
    {{- if $s.init }}
    - name: prepare
      {{- include "quelea.container" (dict "root" $root "name" $name "service" $s) | nindent 6 }}
      command: {{ toJson $s.init }}
    {{- end }}
    {{- if $s.dockerInDocker }}{{ include "quelea.engine.init" $root | nindent 4 }}{{ end }}
  {{- end }}
  containers:
    - name: {{ $name }}
      {{- include "quelea.container" (dict "root" $root "name" $name "service" $s) | nindent 6 }}
      {{- if $s.module }}
      command: [python, -m, {{ $s.module }}]
      {{- else }}
      command: {{ toJson $s.command }}
      {{- end }}
      {{- with $s.args }}
      args: {{ toJson . }}
      {{- end }}
      {{- if or $s.ports (eq (include "quelea.metricsOwn" (dict "root" $root "service" $s)) "true") }}
      ports:
        {{- range $port, $number := $s.ports }}
        - {name: {{ $port }}, containerPort: {{ int $number }}, protocol: TCP}
        {{- end }}
        {{- if eq (include "quelea.metricsOwn" (dict "root" $root "service" $s)) "true" }}
        - {name: metrics, containerPort: {{ int $s.metricsPort }}, protocol: TCP}
        {{- end }}
        {{- if and $s.health (include "quelea.tls" .) }}
        - {name: health, containerPort: {{ int $s.healthPort }}, protocol: TCP}
        {{- end }}
      {{- end }}
      {{- include "quelea.probes" . | nindent 6 }}
      {{- if int $s.preStopSeconds }}
      lifecycle:
        preStop: {sleep: {seconds: {{ int $s.preStopSeconds }}}}
      {{- end }}
    {{- if $s.dockerInDocker }}{{ include "quelea.engine.relay" (dict "root" $root "service" $s) | nindent 4 }}{{ end }}
  volumes:
    - name: tmp
      emptyDir: {sizeLimit: {{ $s.tmpSize }}}
    {{- include "quelea.tls.volume" . | nindent 4 }}
    {{- if $s.shm }}
    - name: shm
      emptyDir: {medium: Memory, sizeLimit: {{ $s.shm }}}
    {{- end }}
    {{- range $volume, $is := $s.volumes }}
    {{- $kind := include "quelea.volumeKind" $is }}
    {{- if not $kind }}
    - name: {{ $volume }}
      emptyDir: {sizeLimit: {{ required (printf "services.%s.volumes.%s needs claim, secret, configMap or size" $name $volume) $is.size }}}
    {{- else if tpl (get $is $kind) $root }}
    - name: {{ $volume }}
      {{- if eq $kind "claim" }}
      persistentVolumeClaim: {claimName: {{ tpl $is.claim $root }}}
      {{- else if eq $kind "secret" }}
      secret: {secretName: {{ tpl $is.secret $root }}, defaultMode: 0440}
      {{- else }}
      configMap: {name: {{ tpl $is.configMap $root }}, defaultMode: 0444}
      {{- end }}
    {{- end }}
    {{- end }}
    {{- if $s.dockerInDocker }}{{ include "quelea.engine.volumes" $root | nindent 4 }}{{ end }}
    {{- if $s.runsInPods }}{{ include "quelea.runs.volume" $root | nindent 4 }}{{ end }}
{{- end }}

{{/* A volume: claim, secret or configMap, whichever it says; "" for an empty folder. */}}
{{- define "quelea.volumeKind" -}}
{{- $is := . }}{{ $kind := "" }}
{{- range list "configMap" "secret" "claim" }}{{ if hasKey $is . }}{{ $kind = . }}{{ end }}{{ end }}{{ $kind }}
{{- end }}

{{/* What the container of a service and the one before it share. */}}
{{- define "quelea.container" -}}
{{- $root := .root }}{{ $s := .service -}}
image: {{ include "quelea.image" (list $root $s.image) }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
securityContext: {{ include "quelea.restricted" . | nindent 2 }}
env:
  {{- range $variable, $from := $s.secretEnv }}
  {{- $secret := tpl $from.secret $root }}
  {{- if $secret }}
  - name: {{ $variable }}
    valueFrom: {secretKeyRef: {name: {{ $secret }}, key: {{ tpl $from.key $root }}}}
  {{- end }}
  {{- end }}
  {{- $told := dict "HOME" "/tmp" "TMPDIR" "/tmp" "XDG_CACHE_HOME" "/tmp/.cache" "USER" "quelea" "PYTHONUNBUFFERED" "1" "PYTHONDONTWRITEBYTECODE" "1" "TOKENIZERS_PARALLELISM" "false" "MALLOC_ARENA_MAX" "4" }}
  {{- if $s.module }}{{ $_ := merge $told (dict "OMP_NUM_THREADS" "1" "OPENBLAS_NUM_THREADS" "1") }}{{ end }}
  {{- if $s.prefix }}
  {{- $own := dict "LOG_LEVEL" $root.Values.logLevel "DRAIN_SECONDS" (toString $s.drainSeconds) "OTLP_ENDPOINT" $root.Values.tracing.endpoint "MIN_FREE_BYTES" $root.Values.disk.minFreeBytes "MIN_FREE_SHARE" $root.Values.disk.minFreeShare }}
  {{- if $s.ports.grpc }}{{ $_ := set $own "LISTEN" (printf "%s:%d" $root.Values.listenHost (int $s.ports.grpc)) }}{{ end }}
  {{- if eq (include "quelea.metricsOwn" .) "true" }}{{ $_ := set $own "METRICS_HOST" (trimAll "[]" $root.Values.listenHost) }}{{ $_ := set $own "METRICS_PORT" (toString (int $s.metricsPort)) }}{{ end }}
  {{- $env := deepCopy $s.env }}{{ include "quelea.fill" (dict "into" $env "from" $own) }}
  {{- if and $s.health (include "quelea.tls" .) }}
  {{- $_ := set $told (printf "QUELEA_%s_HEALTH_LISTEN" $s.prefix) (printf "%s:%d" $root.Values.listenHost (int $s.healthPort)) }}
  {{- $_ := set $told (printf "QUELEA_%s_ALLOWED_CALLERS" $s.prefix) (include "quelea.tls.callers" .) }}
  {{- end }}
  {{- range $key, $value := $env }}{{ $_ := set $told (printf "QUELEA_%s_%s" $s.prefix $key) $value }}{{ end }}
  {{- end }}
  {{- if and $s.module (include "quelea.tls" .) }}{{ $_ := set $told "QUELEA_TLS_DIR" (include "quelea.tls.dir" $root) }}{{ end }}
  {{- range $variable, $value := $s.rawEnv }}{{ $_ := set $told $variable $value }}{{ end }}
  {{- range $variable, $value := $told }}
  {{- $is := tpl (toString $value) $root }}
  {{- if and $is (not (include "quelea.fromSecret" (dict "root" $root "service" $s "variable" $variable))) }}
  - name: {{ $variable }}
    value: {{ $is | quote }}
  {{- end }}
  {{- end }}
{{- $refs := list }}
{{- range $s.envFromSecrets }}{{ with tpl . $root }}{{ $refs = append $refs . }}{{ end }}{{ end }}
{{- with $refs | uniq }}
envFrom:
  {{- range . }}
  - secretRef: {name: {{ . }}}
  {{- end }}
{{- end }}
resources: {{ required "resources are required" $s.resources | toYaml | nindent 2 }}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- include "quelea.tls.mount" . | nindent 2 }}
  {{- if $s.shm }}
  - {name: shm, mountPath: /dev/shm}
  {{- end }}
  {{- range $volume, $is := $s.volumes }}
  {{- $kind := include "quelea.volumeKind" $is }}
  {{- if or (not $kind) (tpl (get $is ($kind | default "size")) $root) }}
  - name: {{ $volume }}
    mountPath: {{ $is.mountPath }}
    {{- if $is.readOnly }}
    readOnly: true
    {{- end }}
    {{- with $is.subPath }}
    subPath: {{ . }}
    {{- end }}
  {{- end }}
  {{- end }}
  {{- with $s.storage }}
  - {name: data, mountPath: {{ .mountPath }}}
  {{- end }}
  {{- if $s.dockerInDocker }}
  - {name: engine-socket, mountPath: /run/engine}
  {{- end }}
  {{- if $s.runsInPods }}{{ include "quelea.runs.mount" $root | nindent 2 }}{{ end }}
{{- end }}

{{/* "true" when a Secret gives this variable, which then is not set here too. */}}
{{- define "quelea.fromSecret" -}}
{{- with get .service.secretEnv .variable }}{{ if tpl .secret $.root }}true{{ end }}{{ end }}
{{- end }}

{{/*
(dict root name service): "true" when Prometheus asks it. Where /metrics is behind a store's own key and port, only the
namespace that monitoring.namespaceLabels names is let through; none named, none is.
*/}}
{{- define "quelea.scraped" -}}
{{- $monitoring := .root.Values.monitoring }}
{{- $open := or (not .service.metricsKey.secret) $monitoring.namespaceLabels (not .root.Values.networkPolicy.enabled) }}
{{- if and $monitoring.enabled (int .service.metricsPort) $open }}true{{ end }}
{{- end }}

{{/* "true" when metrics have a port of their own */}}
{{- define "quelea.metricsOwn" -}}
{{- if and .root.Values.monitoring.enabled (int .service.metricsPort) }}
{{- $taken := "" }}{{ range .service.ports }}{{ if eq (int .) (int $.service.metricsPort) }}{{ $taken = "yes" }}{{ end }}{{ end }}
{{- if not $taken }}true{{ end }}
{{- end }}
{{- end }}

{{- define "quelea.restricted" -}}
runAsNonRoot: true
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "quelea.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* "live" says only that the server's loop turns: a dependency that is away makes a pod not ready, and restarts none. */}}
{{- define "quelea.probes" -}}
{{- $s := .service }}{{ $health := eq (include "quelea.tls" .) "true" | ternary $s.healthPort $s.ports.grpc }}
{{- if $s.health -}}
startupProbe:
  tcpSocket: {port: grpc}
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: {{ div (add (int $s.startupSeconds) 1) 2 }}
readinessProbe:
  grpc: {port: {{ int $health }}, service: {{ $s.health }}}
  periodSeconds: 5
  timeoutSeconds: 5
livenessProbe:
  grpc: {port: {{ int $health }}, service: live}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- else -}}
startupProbe: {{ tpl (toYaml $s.probes.startup) .root | nindent 2 }}
readinessProbe: {{ tpl (toYaml $s.probes.readiness) .root | nindent 2 }}
livenessProbe: {{ tpl (toYaml $s.probes.liveness) .root | nindent 2 }}
{{- end }}
{{- end }}

{{/*
(dict root name service): a hash of the files that this pod runs or reads, and of no other: what changes in another's script
restarts nobody. Which they are is read from the pod's own commands, arguments and probes. "" when there are none.
*/}}
{{- define "quelea.configHash" -}}
{{- $root := .root }}{{ $s := .service }}
{{- $says := toJson (list $s.command $s.args $s.init $s.probes) }}
{{- if $s.dockerInDocker }}{{ $says = cat $says "/relay.py /runner_files.py" }}{{ end }}
{{- $read := "" }}
{{- range $path, $_ := $root.Files.Glob "files/*" }}
{{- if contains (printf "/%s" (base $path)) $says }}{{ $read = cat $read $path ($root.Files.Get $path) }}{{ end }}
{{- end }}
{{- if and (contains "/redis.conf" $says) (include "quelea.tls.stores" $root) }}{{ $read = cat $read ($root.Files.Get "files/redis_tls.conf") }}{{ end }}
{{- if $read }}{{ $read | sha256sum | trunc 32 }}{{ end }}
{{- end }}
