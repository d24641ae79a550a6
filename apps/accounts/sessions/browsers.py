"""A browser's name and system from its User-Agent header, for people to recognise it by. Pure."""

UNKNOWN = "unknown program"
LONGEST = 60
# Each names itself after those that it resembles: the first that is found is meant.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "Chrome/": "Chrome",
    "CriOS/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def browser_name(user_agent: str) -> str:
    """At most 60 printable characters: "Firefox on Linux"; of a program that is no browser, its own first word."""
    browser = next((name for sign, name in BROWSERS.items() if sign in user_agent), "")
    if not browser:
        words = user_agent.split()
        return "".join(letter for letter in words[0] if letter.isprintable())[:LONGEST] if words else UNKNOWN
    system = next((name for sign, name in SYSTEMS.items() if sign in user_agent), "")
    return f"{browser} on {system}" if system else browser
