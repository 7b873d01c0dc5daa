{{/* TLS between services: who has a certificate, under which names, and where a pod finds it. */}}

{{/* (dict root service): "true" when pods of this service have a certificate */}}
{{- define "quelea.tls" -}}
{{- $tls := .root.Values.tls }}
{{- if and (ne $tls.mode "none") (or (eq .service.certificate "services") (and (eq .service.certificate "stores") $tls.stores)) }}true{{ end }}
{{- end }}

{{/* "true" when Redis and Qdrant of ours speak TLS */}}
{{- define "quelea.tls.stores" -}}
{{- if and (ne .Values.tls.mode "none") .Values.tls.stores }}true{{ end }}
{{- end }}

{{/* Where every pod has tls.crt, tls.key and ca.crt. */}}
{{- define "quelea.tls.dir" -}}/etc/quelea/tls{{- end }}

{{/* ca.crt, for clients of a store of ours that speaks TLS; else "" */}}
{{- define "quelea.tls.storesCa" -}}
{{- if include "quelea.tls.stores" . }}{{ include "quelea.tls.dir" . }}/ca.crt{{ end }}
{{- end }}

{{/* Of Qdrant's probes */}}
{{- define "quelea.tls.storesScheme" -}}
HTTP{{ if include "quelea.tls.stores" . }}S{{ end }}
{{- end }}

{{/* (list $ name): Secret with tls.crt, tls.key and ca.crt of a service */}}
{{- define "quelea.tls.secret" -}}
{{- with (index . 0).Values.tls.secretPrefix }}{{ . }}{{ index $ 1 }}{{ else }}{{ include "quelea.name" (list (index . 0) (printf "tls-%s" (index . 1))) }}{{ end }}
{{- end }}

{{/* (dict root name service): its DNS names as JSON; the first is what it is known by to those whom it calls. */}}
{{- define "quelea.tls.names" -}}
{{- $root := .root }}{{ $name := include "quelea.name" (list .root .name) }}
{{- $host := include "quelea.host" (list .root .name) }}
{{- $names := list $host (printf "%s.%s.svc" $name $root.Release.Namespace) (printf "%s.%s" $name $root.Release.Namespace) $name }}
{{- if and (eq .service.kind "StatefulSet") (eq .service.certificate "stores") }}
{{- range $i := until (int .service.replicas) }}
{{- $names = concat $names (list (printf "%s-%d.%s" $name $i $name) (printf "%s-%d.%s" $name $i $host)) }}
{{- end }}
{{- $names = append $names "localhost" }}
{{- end }}
{{- toJson $names }}
{{- end }}

{{/* (dict root name): who may call its gRPC, from networkPolicy.arrows, as JSON: never an empty list, which is everyone. */}}
{{- define "quelea.tls.callers" -}}
{{- $root := .root }}{{ $wanted := printf "%s:grpc" .name }}{{ $callers := list }}
{{- range $caller, $callees := $root.Values.networkPolicy.arrows }}
{{- if and (has $wanted $callees) (include "quelea.on" (list $root $caller)) }}{{ $callers = append $callers (include "quelea.host" (list $root $caller)) }}{{ end }}
{{- end }}
{{- $callers | default (list (include "quelea.host" (list $root .name))) | toJson }}
{{- end }}

{{/* (dict root name service): the volume of a pod, and its mount in a container */}}
{{- define "quelea.tls.volume" -}}
{{- if include "quelea.tls" . }}
- name: tls
  secret: {secretName: {{ include "quelea.tls.secret" (list .root .name) }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- define "quelea.tls.mount" -}}
{{- if include "quelea.tls" . }}
- {name: tls, mountPath: {{ include "quelea.tls.dir" .root }}, readOnly: true}
{{- end }}
{{- end }}
