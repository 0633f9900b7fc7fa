/** The map on the graphics card: one point a vertex, its shape cut out in the fragment shader. */
const VERTEX = `#version 300 es
in vec2 place;
in float kind;
in float sure;
in float flags;
uniform vec2 eye;
uniform vec2 stretch;
uniform float size;
uniform float pass;
uniform float selected;
uniform sampler2D palette;
out vec4 colour;
flat out int shape;
flat out float ringed;
out float width;
void main() {
  bool labeled = mod(flags, 2.0) > 0.5;
  bool chosen = float(gl_VertexID) == selected;
  float layer = chosen ? 2.0 : labeled ? 1.0 : 0.0;
  vec4 paint = texelFetch(palette, ivec2(int(min(kind, 1023.0)), 0), 0);
  shape = int(paint.a * 255.0 + 0.5);
  bool aside = flags > 1.5;
  colour = vec4(paint.rgb, labeled || chosen ? 1.0 : aside ? 0.15 : 0.16 + 0.74 * sure * sure);
  ringed = chosen ? 2.0 : labeled ? 1.0 : 0.0;
  width = size * (chosen ? 2.6 : labeled ? 1.9 : 1.0);
  gl_PointSize = width;
  gl_Position = layer == pass ? vec4((place - eye) * stretch, 0.0, 1.0) : vec4(9.0, 9.0, 9.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 colour;
flat in int shape;
flat in float ringed;
in float width;
uniform vec3 ink;
out vec4 paint;
float turned(vec2 p, float sides, float radius) {
  float slice = 6.2831853 / sides;
  float angle = atan(p.x, -p.y);
  return cos(floor(0.5 + angle / slice) * slice - angle) * length(p) - radius;
}
float edge(vec2 p) {
  if (shape == 1) return max(abs(p.x), abs(p.y)) - 0.8;
  if (shape == 2) return turned(vec2(p.x, 0.25 - p.y), 3.0, 0.58);
  if (shape == 3) return (abs(p.x) + abs(p.y) - 1.1) * 0.75;
  if (shape == 4) return turned(vec2(p.x, p.y + 0.25), 3.0, 0.58);
  if (shape == 5) return max(min(abs(p.x), abs(p.y)) - 0.34, max(abs(p.x), abs(p.y)) - 1.0);
  if (shape == 6) return turned(p, 6.0, 0.86);
  if (shape == 7) return min(turned(p, 3.0, 0.5), turned(vec2(p.x, -p.y), 3.0, 0.5));
  return length(p) - 0.92;
}
void main() {
  vec2 p = (gl_PointCoord - 0.5) * 2.0;
  float blur = 2.2 / width;
  if (ringed > 0.5) {
    float inner = 1.0 - smoothstep(-blur, blur, edge(p * (ringed > 1.5 ? 2.2 : 1.8)));
    float r = length(p);
    float line = ringed > 1.5 ? 0.1 : 0.05;
    float ring = 1.0 - smoothstep(line, line + blur, abs(r - 0.82));
    float cover = max(inner, ring);
    if (cover < 0.01) discard;
    paint = vec4(mix(ink, colour.rgb, inner), cover);
    return;
  }
  float cover = width < 6.0 ? 1.0 - smoothstep(0.7, 1.0, length(p)) : 1.0 - smoothstep(-blur, blur, edge(p));
  if (cover < 0.01) discard;
  paint = vec4(colour.rgb, colour.a * cover);
}`;

const CLASSES = 1024;
const LAYERS = 3;

/** Null where the browser has no WebGL 2. */
export function glPainter(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, alpha: true });
  if (!gl) return null;
  const program = link(gl);
  const uniform = (name) => gl.getUniformLocation(program, name);
  const at = Object.fromEntries(["eye", "stretch", "size", "pass", "selected", "ink", "palette"].map((name) => [name, uniform(name)]));
  const places = gl.createBuffer();
  const states = gl.createBuffer();
  let count = 0;
  let ratio = 1;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);

  function attribute(name, size, type, stride, offset) {
    const place = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, name === "sure", stride, offset);
  }

  return {
    points(values) {
      count = values.length / 2;
      gl.bindBuffer(gl.ARRAY_BUFFER, places);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      attribute("place", 2, gl.FLOAT, 8, 0);
    },
    marks(values) {
      gl.bindBuffer(gl.ARRAY_BUFFER, states);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      attribute("kind", 1, gl.UNSIGNED_SHORT, 4, 0);
      attribute("sure", 1, gl.UNSIGNED_BYTE, 4, 2);
      attribute("flags", 1, gl.UNSIGNED_BYTE, 4, 3);
    },
    palette(classes, none, dark) {
      const table = new Uint8Array(4 * CLASSES);
      for (let i = 0; i < CLASSES; i += 1) {
        const { colour, shape } = classes[i] ?? { colour: none, shape: 0 };
        table.set([...rgb(colour), shape], 4 * i);
      }
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, CLASSES, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
      gl.uniform1i(at.palette, 0);
      gl.uniform3fv(at.ink, dark ? [0.93, 0.93, 0.94] : [0.11, 0.11, 0.12]);
    },
    size(width, height, pixels) {
      Object.assign(canvas, { width, height });
      ratio = pixels;
      gl.viewport(0, 0, width, height);
    },
    draw(eye, selected) {
      const unit = Math.min(canvas.width, canvas.height) * 0.92 * eye.scale;
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(at.eye, eye.x, eye.y);
      gl.uniform2f(at.stretch, (2 * unit) / canvas.width, (-2 * unit) / canvas.height);
      gl.uniform1f(at.size, dotSize(count, eye.scale) * ratio);
      gl.uniform1f(at.selected, selected);
      for (let layer = 0; layer < LAYERS; layer += 1) {
        gl.uniform1f(at.pass, layer);
        gl.drawArrays(gl.POINTS, 0, count);
      }
    },
    leave: () => gl.getExtension("WEBGL_lose_context")?.loseContext(),
  };
}

/** Smaller where there are many, growing as one comes closer. */
export const dotSize = (count, scale) => Math.min(18, Math.min(10, Math.max(2.6, 240 / Math.sqrt(count))) * scale ** 0.4);

export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

function link(gl) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) || "the map's shader does not link");
  return program;
}
