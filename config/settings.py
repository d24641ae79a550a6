"""All settings, read from the environment once; docs/reference/settings.md lists every variable."""

from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

import environ
import sentry_sdk
from csp.constants import NONE, SELF, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured
from pythonjsonlogger.core import RESERVED_ATTRS
from sentry_sdk.integrations.logging import ignore_logger
from sentry_sdk.utils import BadDsn

from apps.core.stores import BadAddress, store_at
from config.variables import flag, number

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(environ.Env().str("SPLASHBOARD_VAR", default=str(BASE_DIR / "var")))

env = environ.Env()

DEBUG = flag("SPLASHBOARD_DEBUG", default=False)
LOCAL_SECRET_KEY = "for-local-use-only-change-me-on-a-server"  # noqa: S105  refused on a server, below
LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
SECRET_KEY = env.str("SPLASHBOARD_SECRET_KEY", default=LOCAL_SECRET_KEY)
# Keys before it: still valid for sessions, and for what is encrypted until it is stored again.
SECRET_KEY_FALLBACKS = env.list("SPLASHBOARD_OLD_SECRET_KEYS", default=[])
# The agent and the supervisor on this machine ask for it by its own names.
ALLOWED_HOSTS = list(dict.fromkeys([*env.list("SPLASHBOARD_HOSTS", default=[]), *LOCAL_HOSTS]))
# The default key is public; with it, a session could be forged.
if SECRET_KEY == LOCAL_SECRET_KEY and (foreign := [host for host in ALLOWED_HOSTS if host.strip() not in LOCAL_HOSTS]):
    raise ImproperlyConfigured(
        f"SPLASHBOARD_HOSTS names {', '.join(foreign)}, but SPLASHBOARD_SECRET_KEY is not set: set it to 50 random "
        "characters, the same for all processes, for example those of `openssl rand -hex 32`."
    )
CSRF_TRUSTED_ORIGINS = env.list("SPLASHBOARD_ORIGINS", default=[])
# A browser returns a secure cookie over https only: disabled while any origin is plain http.
SESSION_COOKIE_SECURE = bool(CSRF_TRUSTED_ORIGINS) and all(
    origin.startswith("https://") for origin in CSRF_TRUSTED_ORIGINS
)
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE
# Only behind a proxy that sets this header itself: clients can forge it.
BEHIND_TLS_PROXY = flag("SPLASHBOARD_BEHIND_TLS_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS_PROXY else None
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if BEHIND_TLS_PROXY and SESSION_COOKIE_SECURE else 0
# Names below ours and browsers' own lists are the operator's to decide; http is redirected by the proxy, since agents
# beside the server and the probe of its container speak http.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"]

# Of a style element only the empty one, which Plotly makes and then fills rule by rule; attributes place bars.
EMPTY_TEXT = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
# The style of pages that stand alone, in failure.html.
FAILURE_STYLE = "'sha256-8TP93DcvjHA8uUDP4JjLW3zs1b9fZ548oKO/WnopQho='"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src-elem": [SELF, EMPTY_TEXT, FAILURE_STYLE],
        "style-src-attr": [UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "axes",
    "csp",
    "django_htmx",
    "django_vite",
    "rest_framework",
    "drf_spectacular",
    "apps.core.audit",
    "apps.accounts",
    "apps.catalog",
    "apps.runs",
    "apps.published",
    "apps.comparison",
    "apps.use_method",
    "apps.dispatch",
    "apps.regressions",
    "apps.notifications",
    "apps.aws",
    "apps.rig",
    "apps.operations",
    "apps.rest",
    "apps.web",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "config.compression.Compression",
    "config.visible.VisibleText",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.ReadingMayNeedSignIn",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.read_only.ReadOnlyWhileFull",
    "config.content_encoding.RefuseContentEncoding",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.core.audit.middleware.KnowWhoActs",
    "config.observe.NameRoute",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["apps.web.templatetags.components", "apps.web.templatetags.splash"],
        },
    }
]

DATABASES = {"default": env.db_url("DATABASE_URL", default="postgres://splashboard@/splashboard")}
if folder := DATABASES["default"].get("OPTIONS", {}).pop("host", ""):
    DATABASES["default"]["HOST"] = folder  # of a socket: a URL can hold it only in its query

# A new connection costs a request 10 ms, and an agent's requests come ten seconds apart.
DATABASES["default"] |= {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
# Disks read any page as fast as the next one, and JIT compilation of a query takes longer than a page may take.
DATABASES["default"].setdefault("OPTIONS", {}).setdefault("options", "-c random_page_cost=1.1 -c jit=off")
# Only statements through apps.core.binary_cursor are prepared; Django's own never are.
DATABASES["default"]["OPTIONS"].setdefault("prepare_threshold", 5)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1/0")

# Others than the users of this machine can reach the server: by its own names, or through a proxy, which may call it by
# a name of this machine.
_ADDRESSES = [*CSRF_TRUSTED_ORIGINS, *filter(None, [env.str("SPLASHBOARD_ADDRESS", default="")])]
REACHABLE = BEHIND_TLS_PROXY or any(
    name.strip() not in LOCAL_HOSTS
    for name in [
        *ALLOWED_HOSTS,
        env.str("SPLASHBOARD_HOST", default="").replace("::1", "[::1]") or LOCAL_HOSTS[0],
        *((urlsplit(address.strip()).hostname or address).replace("::1", "[::1]") for address in _ADDRESSES),
    ]
)
# Whether pages and API are readable without signing in; writing always needs a role.
SPLASHBOARD_PUBLIC_READ = flag("SPLASHBOARD_PUBLIC_READ", default=not REACHABLE)
SPLASHBOARD_EXAMPLES = flag("SPLASHBOARD_EXAMPLES", default=True)
# With archives to load in place of the product's.
SPLASHBOARD_EXAMPLES_FOLDER = env.str("SPLASHBOARD_EXAMPLES_FOLDER", default="")

AUTH_USER_MODEL = "accounts.User"
SESSION_ENGINE = "apps.accounts.sessions.store"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    # Of passwords set before; each is hashed anew when it is next used.
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
] + [{"NAME": "apps.accounts.sign_ins.RecordedPassword"}]
# A name is locked for an address (of IPv6 a /64), so that nobody locks another one out; a sign-in link still works.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "apps.core.client_address.client_network"
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_LOCKOUT_CALLABLE = "apps.web.accounts.sign_in.locked_out"
AXES_VERBOSE = False
# An OpenID Connect provider; without its address there are passwords and sign-in links only.
OIDC_ISSUER = env.str("SPLASHBOARD_OIDC_ISSUER", default="").rstrip("/")
OIDC_CLIENT_ID = env.str("SPLASHBOARD_OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = env.str("SPLASHBOARD_OIDC_CLIENT_SECRET", default="")
OIDC_NAME = env.str("SPLASHBOARD_OIDC_NAME", default="single sign-on")
# For providers that do not say which addresses they verified, and administer all of them.
OIDC_TRUSTS_EMAIL = flag("SPLASHBOARD_OIDC_TRUSTS_EMAIL", default=False)
# Role of those whom the provider knows and nobody invited; empty: they are refused.
OIDC_NEW_PEOPLE = env.str("SPLASHBOARD_OIDC_NEW_PEOPLE", default="")
PASSWORDS = flag("SPLASHBOARD_PASSWORDS", default=True)
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    raise ImproperlyConfigured(
        "SPLASHBOARD_OIDC_CLIENT_ID is not set: give the one that the provider made for this server"
    )
if OIDC_ISSUER and not OIDC_ISSUER.startswith(("https://", "http://localhost:", "http://127.0.0.1:")):
    raise ImproperlyConfigured("SPLASHBOARD_OIDC_ISSUER: give an address that begins with https://")
if OIDC_NEW_PEOPLE not in ("", "reader", "engineer"):
    raise ImproperlyConfigured(
        f"SPLASHBOARD_OIDC_NEW_PEOPLE is {OIDC_NEW_PEOPLE!r}: choose reader, engineer or nothing"
    )
if not PASSWORDS and not OIDC_ISSUER:
    raise ImproperlyConfigured("SPLASHBOARD_PASSWORDS is off: set SPLASHBOARD_OIDC_ISSUER, or nobody can sign in")
LOGIN_URL = "web:sign-in"
LOGIN_REDIRECT_URL = "web:overview"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "frontend" / "dist"] if (BASE_DIR / "frontend" / "dist").is_dir() else []
DJANGO_VITE = {"default": {"dev_mode": False, "manifest_path": BASE_DIR / "frontend" / "dist" / "manifest.json"}}
# Vite's names already contain a content hash.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/assets/"

# Artifacts: a folder, unless an S3 endpoint or bucket is set.
S3_BUCKET = env.str("S3_BUCKET", default="")
S3_ENDPOINT_URL = env.str("S3_ENDPOINT_URL", default="")
ARTIFACT_STORE = (
    {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": S3_BUCKET or "splashboard",
            "endpoint_url": S3_ENDPOINT_URL or None,
            "file_overwrite": True,
        },
    }
    if S3_BUCKET or S3_ENDPOINT_URL
    else {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": VAR_DIR / "artifacts", "allow_overwrite": True},
    }
)
STORAGES = {
    "default": ARTIFACT_STORE,
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
# Room that each disk must have: below it the server is read-only. PostgreSQL's own log takes up to 2 GB under load.
LEAST_FREE_BYTES = number("SPLASHBOARD_LEAST_FREE_MB", default=500, unit="MB") * 1024**2
DISKS = [
    *(Path(each.strip()) for each in env.list("SPLASHBOARD_DISKS", default=[])),
    *(VAR_DIR / name for name in ("postgres", "artifacts", "")),
]
# Bytes of raw files that each agent, token or person may store a day; 0: any number.
UPLOADS_A_DAY = number("SPLASHBOARD_UPLOADS_GB_A_DAY", default=20, unit="GiB") * 1024**3
# Credentials for AWS queries about systems, where the environment's belong to another object store.
AWS_PROFILE = env.str("SPLASHBOARD_AWS_PROFILE", default="")
# Archive of finished runs as Parquet: a folder, or s3://bucket/prefix. Empty: no archive.
ARCHIVE = env.str("SPLASHBOARD_ARCHIVE", default="")
# Days for which the samples of an archived run also stay in the database; 0: forever.
KEEP_SAMPLES_DAYS = number("SPLASHBOARD_KEEP_SAMPLES_DAYS", default=0, unit="days")
if ARCHIVE:
    try:
        STORAGES["archive"] = store_at(ARCHIVE, endpoint_url=S3_ENDPOINT_URL or None)
    except BadAddress as error:
        raise ImproperlyConfigured(f"SPLASHBOARD_ARCHIVE: {error}") from error
if KEEP_SAMPLES_DAYS and not ARCHIVE:
    raise ImproperlyConfigured("SPLASHBOARD_KEEP_SAMPLES_DAYS: name the archive to move to in SPLASHBOARD_ARCHIVE")

# This server's public address, for links in notifications.
_OWN = f"http://{env.str('SPLASHBOARD_HOST', default='127.0.0.1')}:{number('SPLASHBOARD_PORT', default=8000)}"
ADDRESS = (env.str("SPLASHBOARD_ADDRESS", default="") or (CSRF_TRUSTED_ORIGINS or [_OWN])[0]).rstrip("/")
# E-mail: smtp+tls://user:password@host:587; without a server each mail is a file below var/.
if env.str("EMAIL_URL", default=""):
    globals().update(env.email_url("EMAIL_URL"))
else:
    EMAIL_BACKEND, EMAIL_FILE_PATH = "django.core.mail.backends.filebased.EmailBackend", str(VAR_DIR / "mail")
EMAIL_TIMEOUT = 15
DEFAULT_FROM_EMAIL = env.str("SPLASHBOARD_MAIL_FROM", default="splashboard@localhost")
# The organisation's networks (10.1.0.0/16) allowed for webhooks; otherwise public addresses only.
WEBHOOK_NETWORKS = [each.strip() for each in env.list("SPLASHBOARD_WEBHOOK_NETWORKS", default=[])]
try:
    for network in WEBHOOK_NETWORKS:
        ip_network(network)
except ValueError as error:
    raise ImproperlyConfigured(f"SPLASHBOARD_WEBHOOK_NETWORKS: {error}") from error

# Raw files name hosts and accounts; what the umask of a start allows is not enough to know.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
# A batch is at most 8 MB compressed; an artifact at most 64 MB.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.rest.framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "apps.rest.framework.permissions.WithinScope",
        "apps.rest.framework.permissions.ReadersReadEngineersWrite",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["apps.rest.framework.throttles.RequestsPerMinute"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.rest.framework.bodies.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "apps.rest.framework.documentation.DocumentedSchema",
    "EXCEPTION_HANDLER": "apps.rest.framework.problems.as_problem",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Splashboard",
    "DESCRIPTION": "Submit, dispatch, read and compare database benchmark runs.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # The agents' messages use msgspec's JSON Schema, which is OpenAPI 3.1's.
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.rest.framework.messages.add_components",
    ],
}

# An agent's lease time and a job's maximum attempts are dispatch's own constants.
# Celery has its own form of a socket's address.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# A request that enqueues must not hang on an unreachable broker: the beat's sweep enqueues later. After the visibility
# timeout (s) a task that still runs is delivered again; rows and their locks keep it from having two effects
# (docs/why/uploads.md).
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 120, "socket_connect_timeout": 3, "socket_keepalive": True}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a broker may be away for hours
# A task that waits for ever would keep its place in the pool; the longest take minutes.
CELERY_TASK_TIME_LIMIT = 3600

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# One line of text, or one object of JSON for each event.
LOG_FORMAT = env.str("SPLASHBOARD_LOG_FORMAT", default="line")
if LOG_FORMAT not in ("line", "json"):
    raise ImproperlyConfigured(f"SPLASHBOARD_LOG_FORMAT is {LOG_FORMAT!r}: choose line or json")
LOG_LEVEL = env.str("SPLASHBOARD_LOG_LEVEL", default="INFO").upper()
if LOG_LEVEL not in LOG_LEVELS:
    raise ImproperlyConfigured(f"SPLASHBOARD_LOG_LEVEL is {LOG_LEVEL!r}: choose {', '.join(LOG_LEVELS)}")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "about": {"()": "apps.core.server.log_context.AddAbout"},
        "links": {"()": "apps.core.server.log_secrets.HideLinks"},
    },
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}{about}", "style": "{"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "format": "{levelname}{name}{message}",
            "style": "{",
            "rename_fields": {"levelname": "level", "name": "logger"},
            "timestamp": "time",
            "reserved_attrs": [*RESERVED_ATTRS, "about"],
        },
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["about", "links"]}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # httpx logs full URLs, and a chat webhook's URL is a secret.
    # axes logs the address of each sign-in, and that of a link is one.
    "loggers": {"httpx": {"level": "WARNING"}, "axes": {"level": "WARNING"}},
}
# Celery would replace the handlers by its own.
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# Neither bodies, cookies and addresses of people nor the values of local variables leave the server.
if SENTRY_DSN := env.str("SPLASHBOARD_SENTRY_DSN", default=""):
    try:
        sentry_sdk.init(
            dsn=SENTRY_DSN,
            environment=env.str("SPLASHBOARD_SENTRY_ENVIRONMENT", default="production"),
            send_default_pii=False,
            include_local_variables=False,
            max_request_body_size="never",
        )
        # Anybody on the network can send one.
        ignore_logger("django.security.DisallowedHost")
    except BadDsn as error:
        raise ImproperlyConfigured(f"SPLASHBOARD_SENTRY_DSN: {error}") from error
