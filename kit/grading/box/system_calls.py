"""Which system calls the processes of a box may make: a seccomp filter, by libseccomp.

What is not named here fails with ENOSYS, as on a kernel that has no such call, so that
libraries take another way. Left out on purpose: what holds memory that is in no process's
account (memfd_create, System V objects, sockets, locks of parts of files), what reaches
into other processes, what gives a box more of the processors than its share, and what is
mostly found in descriptions of kernel bugs (io_uring, userfaultfd, bpf, keyctl).
The names follow the groups of Docker's default profile, which is an allowlist too.
"""

import errno
import fcntl
import functools
import tempfile

FILES = """
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 open openat
    openat2 creat close close_range lseek stat fstat lstat newfstatat statx access faccessat
    faccessat2 readlink readlinkat getdents getdents64 getcwd chdir fchdir mkdir mkdirat
    rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat chmod
    fchmod fchmodat fchmodat2 utime utimes utimensat futimesat truncate ftruncate fallocate
    fsync fdatasync sync_file_range sendfile copy_file_range umask statfs fstatfs dup dup2
    dup3 ioctl pipe pipe2 fadvise64 readahead getxattr lgetxattr fgetxattr
    listxattr llistxattr flistxattr
"""
MEMORY = """
    mmap munmap mremap mprotect madvise brk mincore msync membarrier mlock munlock
    get_mempolicy set_mempolicy mbind
"""
PROCESSES = """
    fork vfork execve execveat exit exit_group wait4 waitid kill tkill tgkill getpid getppid
    gettid getpgid getpgrp getsid getuid geteuid getgid getegid getresuid getresgid
    getgroups setuid setgid prctl arch_prctl getrlimit setrlimit prlimit64 getrusage times
    sched_yield sched_getaffinity sched_getparam sched_setparam sched_getscheduler
    sched_setscheduler sched_getattr
    sched_get_priority_max sched_get_priority_min getpriority setpriority set_tid_address
    set_robust_list get_robust_list rseq futex futex_waitv getcpu sysinfo uname capget
    getrandom riscv_hwprobe
"""
SIGNALS_AND_TIME = """
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend
    sigaltstack pause alarm setitimer getitimer signalfd4 restart_syscall clock_gettime
    clock_getres clock_nanosleep nanosleep gettimeofday time timer_create timer_settime
    timer_gettime timer_delete timer_getoverrun timerfd_create timerfd_settime
    timerfd_gettime poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl
    epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2
"""
# On the socket that is there; no new one.
CHANNEL = "recvfrom sendto shutdown getsockopt getsockname getpeername"
# What a notebook's kernel talks with; and lab 09 ends its workers by their group.
NOTEBOOK = """
    socket socketpair bind listen accept accept4 connect setsockopt sendmsg recvmsg setpgid
"""
FCNTL = (
    fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL,
    fcntl.F_SETFL,
)  # fmt: skip
# They do nothing, and report success. A lock belongs to a file, and boxes see files of the
# machine: a real lock would reach its other users. Inside of a box there is nobody to lock
# out. And of locks of parts of files the kernel keeps any number in its own memory.
F_OFD_SETLK, F_OFD_SETLKW = 37, 38  # macOS has no such names
LOCKS = (fcntl.F_SETLK, fcntl.F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW)
# They fail as they do for a process that leads its group. With `sched_autogroup` the kernel
# shares the processors among sessions: each new one would be another share.
GROUPS = "setsid setpgid"
INT = 0xFFFFFFFF
NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW... flag


@functools.cache
def allowed(notebook: bool = False, sessions: bool = False) -> bytes:
    """The filter as a BPF program, for bubblewrap or the kernel.

    Parameters
    ----------
    notebook : bool
        Also what a whole notebook needs: new sockets and process groups.
    sessions : bool
        Also new sessions: for what starts the notebook's kernel, not for the kernel.

    Returns
    -------
    bytes

    Raises
    ------
    OSError, RuntimeError
        If the machine has no libseccomp.
    """
    import pyseccomp

    made = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.ENOSYS))

    def add(action, name, *arguments):
        # Not every machine has each of them.
        if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) != -1:
            made.add_rule(action, name, *arguments)

    names = " ".join([FILES, MEMORY, PROCESSES, SIGNALS_AND_TIME, CHANNEL]).split()
    names += NOTEBOOK.split() if notebook else []
    names += ["setsid"] if sessions else []
    for name in names:
        add(pyseccomp.ALLOW, name)
    for name in set(GROUPS.split()) - set(names):
        add(pyseccomp.ERRNO(errno.EPERM), name)
    # clone3 hides its flags from a filter; without it the C library takes clone.
    add(pyseccomp.ALLOW, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, NEW_NAMESPACES, 0))
    for command in FCNTL:
        add(pyseccomp.ALLOW, "fcntl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, INT, command))
    nothing = pyseccomp.ERRNO(0)
    add(nothing, "flock")
    for command in LOCKS:
        add(nothing, "fcntl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, INT, command))
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0)
        return file.read()
