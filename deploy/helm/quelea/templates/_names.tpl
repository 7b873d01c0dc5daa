{{/* Names, labels, addresses. A name is at most 40 characters and a component: StatefulSets may have 52. */}}
{{- define "quelea.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- $chart := default .Chart.Name .Values.nameOverride }}
{{- if contains $chart .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $chart | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}
{{- end }}

{{/* (list $ "component") */}}
{{- define "quelea.name" -}}
{{ include "quelea.fullname" (index . 0) }}-{{ index . 1 }}
{{- end }}

{{/* (list $ "component"): what selectors use; never changes, so no version is in it. */}}
{{- define "quelea.selectorLabels" -}}
app.kubernetes.io/name: {{ default (index . 0).Chart.Name (index . 0).Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "quelea.labels" -}}
{{- $root := index . 0 -}}
{{ include "quelea.selectorLabels" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: quelea
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* (list $ image): registry/repository:tag or @digest */}}
{{- define "quelea.image" -}}
{{- $root := index . 0 }}{{ $image := index . 1 }}{{ $of := $root.Values.image -}}
{{- $registry := $of.mirror | default $image.registry | default $of.registry -}}
{{- with $registry }}{{ . }}/{{ end }}{{ required "an image needs a repository" $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default $of.tag | default $root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Fill what `into` does not say from `from`, maps within maps too. (merge of Sprig takes false and 0 for unsaid.) */}}
{{- define "quelea.fill" -}}
{{- $into := .into }}
{{- range $key, $value := .from }}
{{- if not (hasKey $into $key) }}{{ $_ := set $into $key (kindIs "map" $value | ternary (deepCopy $value) $value) }}
{{- else if and (kindIs "map" $value) (kindIs "map" (get $into $key)) }}{{ include "quelea.fill" (dict "into" (get $into $key) "from" $value) }}
{{- end }}
{{- end }}
{{- end }}

{{/* (list $ "name"): is this service there? */}}
{{- define "quelea.on" -}}
{{- $service := get (index . 0).Values.services (index . 1) -}}
{{- if kindIs "map" $service }}{{ if (hasKey $service "enabled") | ternary $service.enabled (index . 0).Values.serviceDefaults.enabled }}true{{ end }}{{ end }}
{{- end }}

{{/* (list $ "name"): host name of the service inside the cluster */}}
{{- define "quelea.host" -}}
{{ include "quelea.name" . }}.{{ (index . 0).Release.Namespace }}.svc.{{ (index . 0).Values.clusterDomain }}
{{- end }}

{{/* (list $ "name"): host:port of its gRPC, "" when it is off */}}
{{- define "quelea.address" -}}
{{- if include "quelea.on" . }}{{ include "quelea.host" . }}:{{ int (get (index . 0).Values.services (index . 1)).ports.grpc }}{{ end }}
{{- end }}

{{- define "quelea.redisPasswordSecret" -}}
{{- if include "quelea.on" (list . "redis") }}{{ include "quelea.name" (list . "redis") }}{{ end }}
{{- end }}
{{- define "quelea.redisUrl" -}}
{{- if include "quelea.on" (list . "redis") }}redis{{ $ca := include "quelea.tls.storesCa" . }}{{ if $ca }}s{{ end }}://:$(REDIS_PASSWORD)@{{ include "quelea.host" (list . "redis") }}:{{ int .Values.services.redis.ports.redis }}/0
{{- if $ca }}{{ $dir := include "quelea.tls.dir" . }}?ssl_ca_certs={{ $ca }}&ssl_certfile={{ $dir }}/tls.crt&ssl_keyfile={{ $dir }}/tls.key{{ end }}{{ end }}
{{- end }}

{{- define "quelea.qdrantSecret" -}}
{{- if .Values.qdrant.existingSecret }}{{ .Values.qdrant.existingSecret }}
{{- else if include "quelea.on" (list . "qdrant") }}{{ include "quelea.name" (list . "qdrant") }}{{ end }}
{{- end }}
{{- define "quelea.qdrantUrl" -}}
{{- if .Values.qdrant.url }}{{ .Values.qdrant.url }}
{{- else if include "quelea.on" (list . "qdrant") }}http{{ if include "quelea.tls.stores" . }}s{{ end }}://{{ include "quelea.host" (list . "qdrant") }}:{{ int .Values.services.qdrant.ports.http }}{{ end }}
{{- end }}

{{- define "quelea.blobsUrl" -}}
{{ .Values.blobs.url | default "/blobs" }}
{{- end }}
{{- define "quelea.blobsClaim" -}}
{{- if not .Values.blobs.url }}{{ .Values.blobs.existingClaim | default (include "quelea.name" (list . "blobs")) }}{{ end }}
{{- end }}
{{- define "quelea.runsClaim" -}}
{{- if include "quelea.on" (list . "sandbox") }}{{ include "quelea.blobsClaim" . }}{{ end }}
{{- end }}
{{- define "quelea.runsUrl" -}}
{{- if not (include "quelea.on" (list . "sandbox")) }}/tmp/runs
{{- else if .Values.blobs.url }}{{ trimSuffix "/" .Values.blobs.url }}/runs
{{- else }}/runs{{ end }}
{{- end }}
{{- define "quelea.modelsClaim" -}}
{{- if .Values.models.existingClaim }}{{ .Values.models.existingClaim }}
{{- else if .Values.models.enabled }}{{ include "quelea.name" (list . "models") }}{{ end }}
{{- end }}

{{/* That claim, for who reads the set of models; "" where there is none. */}}
{{- define "quelea.modelSetClaim" -}}
{{- if .Values.models.set }}{{ include "quelea.modelsClaim" . }}{{ end }}
{{- end }}

{{- define "quelea.keysSecret" -}}
{{ .Values.keys.existingSecret | default (include "quelea.name" (list . "keys")) }}
{{- end }}
{{/* Secret with a key of the gateway itself, "" when there is none */}}
{{- define "quelea.testKeySecret" -}}
{{- if .Values.keys.existingSecret }}{{ .Values.keys.testKeySecret }}{{ else }}{{ include "quelea.name" (list . "first-key") }}{{ end }}
{{- end }}

{{/* Every replica of the engine that there can be; the generator leaves alone those that are not there. */}}
{{- define "quelea.endpoints" -}}
{{- if .Values.reader.endpoint }}{{ .Values.reader.endpoint }}
{{- else if include "quelea.on" (list . "engine") }}
{{- $engine := deepCopy .Values.services.engine }}
{{- include "quelea.fill" (dict "into" $engine "from" .Values.serviceDefaults) }}
{{- $many := int (eq $engine.autoscaling.engine "none" | ternary $engine.replicas $engine.autoscaling.max) }}
{{- $name := include "quelea.name" (list . "engine") }}
{{- $all := list }}
{{- range $i := until $many }}
{{- $all = append $all (printf "http://%s-%d.%s:%d/v1" $name $i (include "quelea.host" (list $ "engine")) (int $engine.ports.http)) }}
{{- end }}
{{- join "," $all }}
{{- end }}
{{- end }}
