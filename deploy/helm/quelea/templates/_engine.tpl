{{/* Docker in Docker beside the sandbox. Runs: the runner image's files → the engine (privileged) → import → sandbox. */}}
{{- define "quelea.engine.init" -}}
{{- $e := .Values.sandboxEngine -}}
# The runner image, pulled by the node with its own credentials, hands its files over: the engine needs no registry.
- name: runner-files
  image: {{ include "quelea.image" (list . $e.runnerImage) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [python3, -I, -B, /etc/quelea/scripts/runner_files.py, /, /runner/runner.tar]
  securityContext: {{ include "quelea.restricted" . | nindent 4 }}
  resources:
    requests: {cpu: 250m, memory: 128Mi, ephemeral-storage: 1Gi}
    limits: {cpu: "1", memory: 512Mi, ephemeral-storage: 4Gi}
  volumeMounts:
    - {name: runner, mountPath: /runner}
    - {name: engine-scripts, mountPath: /etc/quelea/scripts, readOnly: true}
- name: engine
  image: {{ include "quelea.image" (list . $e.image) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  restartPolicy: Always
  # No bridge, no iptables: every container that it makes has no network at all.
  # Its entry point, which makes room for the containers' limits in the pod's own control group.
  command: [dockerd-entrypoint.sh, dockerd, --host=unix:///run/engine/docker.sock, --group=65532, --bridge=none, --iptables=false, --ip6tables=false, --ip-forward=false]
  securityContext: {privileged: true, runAsUser: 0, runAsGroup: 0, runAsNonRoot: false}
  env:
    - {name: DOCKER_HOST, value: "unix:///run/engine/docker.sock"}
  startupProbe:
    exec: {command: [docker, version]}
    periodSeconds: 2
    timeoutSeconds: 5
    failureThreshold: 60
  livenessProbe:
    exec: {command: [docker, version]}
    periodSeconds: 20
    timeoutSeconds: 15
    failureThreshold: 6
  readinessProbe:
    exec: {command: [docker, version]}
    periodSeconds: 10
    timeoutSeconds: 10
  resources: {{ toYaml $e.resources | nindent 4 }}
  volumeMounts:
    - {name: engine-socket, mountPath: /run/engine}
    - {name: engine-data, mountPath: /var/lib/docker}
    - {name: market-socket, mountPath: /run/market, readOnly: true}
- name: runner-import
  image: {{ include "quelea.image" (list . $e.image) }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command:
    - docker
    - import
    {{- range list "ENV PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 HOME=/tmp TZ=UTC MPLBACKEND=Agg MPLCONFIGDIR=/tmp/matplotlib MATPLOTLIBRC=/opt/quelea/matplotlibrc PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1" "USER 65534:65534" "WORKDIR /work" }}
    - --change={{ . }}
    {{- end }}
    - /runner/runner.tar
    - quelea-runner:latest
  env:
    - {name: DOCKER_HOST, value: "unix:///run/engine/docker.sock"}
    - {name: HOME, value: /tmp}
  securityContext: {{ include "quelea.restricted" . | nindent 4 }}
  resources:
    requests: {cpu: 250m, memory: 128Mi, ephemeral-storage: 64Mi}
    limits: {cpu: "1", memory: 512Mi, ephemeral-storage: 128Mi}
  volumeMounts:
    - {name: tmp, mountPath: /tmp}
    - {name: runner, mountPath: /runner, readOnly: true}
    - {name: engine-socket, mountPath: /run/engine}
{{- end }}

{{/* Code reaches the door through a socket in a folder; the door is in another pod, which alone may leave the cluster. */}}
{{- define "quelea.engine.relay" -}}
{{- if include "quelea.on" (list .root "door") }}
- name: relay
  image: {{ include "quelea.image" (list .root .service.image) }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [python, -I, -B, /etc/quelea/scripts/relay.py, /run/market/door.sock, "{{ include "quelea.host" (list .root "door") }}:{{ int .root.Values.services.door.ports.data }}"]
  securityContext: {{ include "quelea.restricted" .root | nindent 4 }}
  startupProbe: {exec: {command: [python, -I, -B, /etc/quelea/scripts/relay.py, --check, /run/market/door.sock]}, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 30}
  readinessProbe: {exec: {command: [python, -I, -B, /etc/quelea/scripts/relay.py, --check, /run/market/door.sock]}, periodSeconds: 20, timeoutSeconds: 5}
  livenessProbe: {exec: {command: [python, -I, -B, /etc/quelea/scripts/relay.py, --check, /run/market/door.sock]}, periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 4}
  resources:
    requests: {cpu: 50m, memory: 64Mi, ephemeral-storage: 16Mi}
    limits: {cpu: 500m, memory: 256Mi, ephemeral-storage: 64Mi}
  volumeMounts:
    - {name: market-socket, mountPath: /run/market}
    - {name: engine-scripts, mountPath: /etc/quelea/scripts, readOnly: true}
{{- end }}
{{- end }}

{{- define "quelea.engine.volumes" -}}
- name: engine-socket
  emptyDir: {sizeLimit: 16Mi}
- name: engine-data
  emptyDir: {sizeLimit: 8Gi}
- name: runner
  emptyDir: {sizeLimit: 4Gi}
- name: market-socket
  emptyDir: {sizeLimit: 16Mi}
- name: engine-scripts
  configMap: {name: {{ include "quelea.name" (list . "scripts") }}, defaultMode: 0444}
{{- end }}
