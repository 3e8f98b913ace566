#!/bin/sh
# Bring a virtual environment up to a lock file: venv.sh VENV LOCK STAMP
# The stamp is written last, so an interrupted installation is taken up again.
set -eu
venv=$1 lock=$2 stamp=$3

usable() { # is $1 a Python that can make a virtual environment?
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

refuse() {
    echo "tilegrade: $1" >&2
    exit 1
}

find_python() {
    for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if usable "$python"; then
            echo "$python"
            return
        fi
    done
    python=${PYTHON:-python3}
    command -v "$python" >/dev/null 2>&1 ||
        refuse "no $python here: install Python 3.11 or later, or name one with PYTHON=..."
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        refuse "$("$python" -V 2>&1) is too old: install Python 3.11 or later, or name one with PYTHON=..."
    refuse "$python cannot make a virtual environment: install its venv module (Debian, Ubuntu: apt-get install python3-venv)"
}

# Whole only once pip is in it, and usable only while the Python it was made from is there.
if ! "$venv/bin/python" -c 'import pip' >/dev/null 2>&1; then
    python=$(find_python)
    echo "Making $venv with $("$python" -V 2>&1) ..."
    "$python" -m venv --clear "$venv" || refuse "$python could not make $venv (see above)"
fi
echo "Installing what $lock names into $venv (once) ..."
"$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-input --requirement "$lock" ||
    refuse "pip could not install $lock into $venv (see above); is the network there?"
touch "$stamp"
