{{/* (dict root name into): the entry of a service with everything that it does not say, written into `into`. */}}
{{- define "quelea.complete" -}}
{{- $services := .root.Values.services }}{{ $own := deepCopy (get $services .name) }}
{{- if $own.sameSettingsAs }}
{{- $other := required (printf "services.%s.sameSettingsAs: there is no service %s" .name $own.sameSettingsAs) (get $services $own.sameSettingsAs) }}
{{- include "quelea.fill" (dict "into" $own "from" (pick (deepCopy $other) "prefix" "env" "rawEnv" "secretEnv" "envFromSecrets")) }}
{{- end }}
{{- include "quelea.fill" (dict "into" $own "from" .root.Values.serviceDefaults) }}
{{- $_ := set $own "dockerInDocker" (and $own.runsCode .root.Values.sandboxEngine.enabled) }}
{{- $_ := set $own "runsInPods" (and $own.runsCode (not .root.Values.sandboxEngine.enabled)) }}
{{- range $key, $value := $own }}{{ $_ := set $.into $key $value }}{{ end }}
{{- end }}

{{/* What cannot work is refused here, with a sentence that says what to do. */}}
{{- define "quelea.check" -}}
{{- $root := .root }}{{ $name := .name }}{{ $s := .service }}
{{- $scaled := ne $s.autoscaling.engine "none" }}
{{- if and $s.single (or $scaled (gt (int $s.replicas) 1)) }}{{ fail (printf "services.%s is one process that owns its data: replicas must be 1 and autoscaling.engine none" $name) }}{{ end }}
{{- if and $scaled $s.storage }}{{ fail (printf "services.%s keeps data in its pods, and nothing moves them when pods come and go: autoscaling.engine must be none" $name) }}{{ end }}
{{- if and $scaled (lt (int $s.autoscaling.max) (int $s.autoscaling.min)) }}{{ fail (printf "services.%s.autoscaling: max is below min" $name) }}{{ end }}
{{- if and (eq $s.autoscaling.engine "hpa") (lt (int $s.autoscaling.min) 1) }}{{ fail (printf "services.%s.autoscaling.min: only keda scales to 0" $name) }}{{ end }}
{{- if and (eq $s.autoscaling.engine "hpa") (not (int $s.autoscaling.cpu)) (not (and $root.Values.autoscaling.podMetrics $s.autoscaling.podMetric.name)) }}{{ fail (printf "services.%s.autoscaling: hpa has nothing to go by; set cpu, or podMetric with autoscaling.podMetrics" $name) }}{{ end }}
{{- if and (eq $s.autoscaling.engine "keda") (not (and $s.autoscaling.query $s.autoscaling.threshold)) }}{{ fail (printf "services.%s.autoscaling: keda needs query and threshold" $name) }}{{ end }}
{{- if and (eq $s.autoscaling.engine "keda") (not $root.Values.monitoring.enabled) }}{{ fail (printf "services.%s.autoscaling: keda asks Prometheus; set monitoring.enabled" $name) }}{{ end }}
{{- if and $s.storage (ne $s.kind "StatefulSet") }}{{ fail (printf "services.%s.storage needs kind StatefulSet" $name) }}{{ end }}
{{- if not (or $s.module $s.command) }}{{ fail (printf "services.%s needs module or command" $name) }}{{ end }}
{{- if not (or $s.health $s.probes) }}{{ fail (printf "services.%s needs health or probes" $name) }}{{ end }}
{{- if and (eq (get $s.env "STORE") "qdrant_edge") (or (not $s.single) (not $s.storage)) }}{{ fail (printf "services.%s: the embedded store belongs to one process and needs a volume; see values-embedded.yaml" $name) }}{{ end }}
{{- end }}

{{- define "quelea.checkAll" -}}
{{- $v := .Values }}
{{- include "quelea.signIn.check" . }}
{{- if and (not (include "quelea.on" (list . "redis"))) (not $v.redis.existingSecret) (include "quelea.on" (list . "search")) }}{{ fail "search needs Redis: turn services.redis on or name redis.existingSecret" }}{{ end }}
{{- if and (include "quelea.on" (list . "redis")) $v.redis.existingSecret }}{{ fail "services.redis and redis.existingSecret are two Redis: turn one off" }}{{ end }}
{{- if and (include "quelea.on" (list . "qdrant")) $v.qdrant.url }}{{ fail "services.qdrant and qdrant.url are two Qdrants: turn one off" }}{{ end }}
{{- if and (include "quelea.on" (list . "retriever")) (eq (get ($v.services.retriever.env | default dict) "STORE") "qdrant") (not (include "quelea.qdrantUrl" .)) }}{{ fail "the retriever needs Qdrant: turn services.qdrant on, set qdrant.url, or use the embedded store (values-embedded.yaml)" }}{{ end }}
{{- if and (include "quelea.on" (list . "engine")) $v.reader.endpoint }}{{ fail "services.engine and reader.endpoint are two engines: turn one off" }}{{ end }}
{{- if and (or $v.reader.endpoint (include "quelea.on" (list . "engine"))) (not $v.reader.model) }}{{ fail "reader.model must name the model that the endpoint serves" }}{{ end }}
{{- if and (include "quelea.on" (list . "beat")) (not $v.web.enabled) (not (include "quelea.on" (list . "door"))) }}{{ fail "services.beat has nothing to do without web.enabled or services.door" }}{{ end }}
{{- range $caller, $callees := $v.networkPolicy.arrows }}
{{- if and (not (has $caller (list "test" "maintenance" "evaluation"))) (not (hasKey $v.services $caller)) }}{{ fail (printf "networkPolicy.arrows: there is no service %s" $caller) }}{{ end }}
{{- range $callees }}
{{- $parts := splitList ":" . }}
{{- $callee := get $v.services (first $parts) }}
{{- if or (not (kindIs "map" $callee)) (ne (len $parts) 2) (not (hasKey ($callee.ports | default dict) (last $parts))) }}{{ fail (printf "networkPolicy.arrows.%s: %s is no service:port" $caller .) }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
