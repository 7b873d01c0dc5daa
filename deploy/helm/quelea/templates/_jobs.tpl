{{/* Jobs: migration, backup, restore, re-embedding. Their pods run the retriever's and search's images and settings. */}}

{{/* "true" when there can be any: a retriever on a Qdrant server, or search. */}}
{{- define "quelea.jobs" -}}
{{- if or (include "quelea.jobs.server" .) (include "quelea.on" (list . "search")) }}true{{ end }}
{{- end }}

{{/* "true" when the retriever's data are on a Qdrant server */}}
{{- define "quelea.jobs.server" -}}
{{- if and (include "quelea.on" (list . "retriever")) (eq (get (.Values.services.retriever.env | default dict) "STORE") "qdrant") }}true{{ end }}
{{- end }}

{{/* Where backups are, for the commands */}}
{{- define "quelea.jobs.place" -}}
{{ .Values.jobs.backup.url | default "/backups" }}
{{- end }}
{{- define "quelea.jobs.claim" -}}
{{- if not .Values.jobs.backup.url }}{{ .Values.jobs.backup.existingClaim | default (include "quelea.name" (list . "backups")) }}{{ end }}
{{- end }}

{{/* (dict root parts): what cannot work is refused */}}
{{- define "quelea.jobs.check" -}}
{{- if and (has "retriever" .parts) (not (include "quelea.jobs.server" .root)) }}{{ fail "jobs: the embedded store belongs to the retriever's process, so no job can reach it: leave `retriever` out of parts, and see README.md, Backup" }}{{ end }}
{{- end }}

{{/* (dict root part files): an entry of `services` as a job's container needs it */}}
{{- define "quelea.jobs.service" -}}
{{- $root := .root }}{{ $s := dict }}
{{- include "quelea.complete" (dict "root" $root "name" .part "into" $s) }}
{{- $volumes := dict }}
{{- if and .files (eq .part "search") }}{{ $volumes = pick $s.volumes "blobs" }}{{ end }}
{{- if .place }}{{ $_ := set $volumes "backups" (dict "mountPath" "/backups" "claim" (include "quelea.jobs.claim" $root)) }}{{ end }}
{{- $own := dict "ports" dict "health" "" "metricsPort" 0 "storage" dict "shm" "" "volumes" $volumes "resources" $root.Values.jobs.resources "dockerInDocker" false }}
{{- $own = set $own "envFromSecrets" (append $s.envFromSecrets "{{ .Values.blobs.existingSecret }}") }}
{{- range $key, $value := $s }}{{ if not (hasKey $own $key) }}{{ $_ := set $own $key $value }}{{ end }}{{ end }}
{{- toYaml $own }}
{{- end }}

{{/* (dict root steps retries seconds ttl): spec of a Job. A step is (dict part words files place); all but the last are before it. */}}
{{- define "quelea.jobs.spec" -}}
{{- $root := .root }}{{ $steps := .steps -}}
backoffLimit: {{ .retries }}
activeDeadlineSeconds: {{ int .seconds }}
{{- with .ttl }}
ttlSecondsAfterFinished: {{ . }}
{{- end }}
template:
  metadata:
    labels:
      {{- include "quelea.selectorLabels" (list $root "maintenance") | nindent 6 }}
      {{- with $root.Values.commonLabels }}{{ toYaml . | nindent 6 }}{{ end }}
  spec:
    restartPolicy: Never
    serviceAccountName: {{ include "quelea.name" (list $root "maintenance") }}
    automountServiceAccountToken: false
    enableServiceLinks: false
    terminationGracePeriodSeconds: 30
    {{- with $root.Values.priorityClassName }}
    priorityClassName: {{ . }}
    {{- end }}
    {{- include "quelea.pullSecrets" $root | nindent 4 }}
    securityContext:
      runAsNonRoot: true
      runAsUser: 65532
      runAsGroup: 65532
      fsGroup: 65532
      fsGroupChangePolicy: OnRootMismatch
      seccompProfile: {type: RuntimeDefault}
    {{- if gt (len $steps) 1 }}
    initContainers:
      {{- range initial $steps }}
      {{- include "quelea.jobs.container" (dict "root" $root "step" .) | nindent 6 }}
      {{- end }}
    {{- end }}
    containers:
      {{- include "quelea.jobs.container" (dict "root" $root "step" (last $steps)) | nindent 6 }}
    volumes:
      - name: tmp
        emptyDir: {sizeLimit: 1Gi}
      {{- $tls := dict }}
      {{- $claims := dict }}
      {{- range $steps }}
      {{- $s := include "quelea.jobs.service" (dict "root" $root "part" .part "files" .files "place" .place) | fromYaml }}
      {{- if include "quelea.tls" (dict "root" $root "service" $s) }}{{ $_ := set $tls .part (include "quelea.tls.secret" (list $root .part)) }}{{ end }}
      {{- range $volume, $is := $s.volumes }}{{ with tpl ($is.claim | default "") $root }}{{ $_ := set $claims $volume . }}{{ end }}{{ end }}
      {{- end }}
      {{- range $part, $secret := $tls }}
      - name: tls-{{ $part }}
        # Optional: the migration before the upgrade that turns TLS on calls no service, and there is no Secret yet.
        secret: {secretName: {{ $secret }}, defaultMode: 0440, optional: true}
      {{- end }}
      {{- range $volume, $claim := $claims }}
      - name: {{ $volume }}
        persistentVolumeClaim: {claimName: {{ $claim }}}
      {{- end }}
{{- end }}

{{/* (dict root step) */}}
{{- define "quelea.jobs.container" -}}
{{- $root := .root }}{{ $step := .step }}
{{- $s := include "quelea.jobs.service" (dict "root" $root "part" $step.part "files" $step.files "place" $step.place) | fromYaml -}}
- name: {{ $step.part }}
  command: {{ concat (list "python" "-m" (printf "quelea_%s.admin" $step.part)) $step.words | toJson }}
  {{- include "quelea.container" (dict "root" $root "name" $step.part "service" $s) | replace "{name: tls," (printf "{name: tls-%s," $step.part) | nindent 2 }}
{{- end }}

{{/*
(dict root name schedule kept spec): a CronJob; spec as for quelea.jobs.spec, without root. With no schedule it is
suspended, and an operator makes a Job of it (`kubectl create job NEW --from=cronjob/NAME`). A Job in the release itself
could not be changed: an upgrade to another image would fail, and one under another name would run once more.
*/}}
{{- define "quelea.jobs.cron" }}
---
apiVersion: batch/v1
kind: CronJob
metadata: {{ include "quelea.jobs.metadata" (list .root .name "") | nindent 2 }}
spec:
  {{- if .schedule }}
  schedule: {{ .schedule | quote }}
  startingDeadlineSeconds: 3600
  {{- else }}
  suspend: true
  schedule: "0 0 1 1 *" # never, as it is suspended; the field must be there
  {{- end }}
  timeZone: Etc/UTC
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: {{ .kept }}
  failedJobsHistoryLimit: 3
  jobTemplate:
    metadata:
      labels: {{ include "quelea.labels" (list .root "maintenance") | nindent 8 }}
    spec: {{ include "quelea.jobs.spec" (set .spec "root" .root) | nindent 6 }}
{{- end }}

{{/* (list $ "name" hook): metadata of a Job */}}
{{- define "quelea.jobs.metadata" -}}
name: {{ include "quelea.name" (list (index . 0) (index . 1)) }}
labels: {{ include "quelea.labels" (list (index . 0) "maintenance") | nindent 2 }}
{{- with index . 2 }}
annotations:
  helm.sh/hook: {{ . }}
  helm.sh/hook-weight: "0"
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
{{- end }}

{{/*
Many storage classes bind a claim for its first pod only, and `helm install --wait` waits for claims that are not bound:
without this it would wait for the first night. A Job cannot be changed, so another image is another name.
*/}}
{{- define "quelea.jobs.bind" -}}
{{- $service := dict }}{{ include "quelea.complete" (dict "root" . "name" (first .Values.jobs.backup.parts) "into" $service) }}
{{- $image := include "quelea.image" (list . $service.image) }}
{{- $spec := include "quelea.jobs.bind.spec" (dict "root" . "image" $image) }}
---
apiVersion: batch/v1
kind: Job
metadata: {{ include "quelea.jobs.metadata" (list . (printf "bind-%s" (sha256sum $spec | trunc 8)) "") | nindent 2 }}
spec:
  {{- $spec | nindent 2 }}
{{- end }}
{{- define "quelea.jobs.bind.spec" -}}
backoffLimit: 3
activeDeadlineSeconds: 600
template:
  metadata:
    labels:
      {{- include "quelea.selectorLabels" (list .root "maintenance") | nindent 6 }}
      {{- with .root.Values.commonLabels }}{{ toYaml . | nindent 6 }}{{ end }}
  spec:
    restartPolicy: Never
    serviceAccountName: {{ include "quelea.name" (list .root "maintenance") }}
    automountServiceAccountToken: false
    enableServiceLinks: false
    terminationGracePeriodSeconds: 30
    {{- with .root.Values.priorityClassName }}
    priorityClassName: {{ . }}
    {{- end }}
    {{- include "quelea.pullSecrets" .root | nindent 4 }}
    securityContext:
      runAsNonRoot: true
      runAsUser: 65532
      runAsGroup: 65532
      fsGroup: 65532
      fsGroupChangePolicy: OnRootMismatch
      seccompProfile: {type: RuntimeDefault}
    containers:
      - name: bind
        image: {{ .image }}
        imagePullPolicy: {{ .root.Values.image.pullPolicy }}
        # A folder that can be written to, or a word about it now and not at night.
        command: [python, -I, -B, -c, "import tempfile; tempfile.TemporaryFile(dir='/backups').write(b'x')"]
        securityContext: {{ include "quelea.restricted" .root | nindent 10 }}
        resources: {{ toYaml .root.Values.jobs.resources | nindent 10 }}
        volumeMounts:
          - {name: backups, mountPath: /backups}
    volumes:
      - name: backups
        persistentVolumeClaim: {claimName: {{ include "quelea.jobs.claim" .root }}}
{{- end }}
